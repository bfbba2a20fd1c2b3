// The features of the `everything` example with @modelcontextprotocol/sdk, which knows the handshake only.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { handlers, OPTIONS } from './everything.mjs';

const SCHEMAS = {
  'tools/list': types.ListToolsRequestSchema,
  'tools/call': types.CallToolRequestSchema,
  'resources/list': types.ListResourcesRequestSchema,
  'resources/templates/list': types.ListResourceTemplatesRequestSchema,
  'resources/read': types.ReadResourceRequestSchema,
  'prompts/list': types.ListPromptsRequestSchema,
  'prompts/get': types.GetPromptRequestSchema,
  'completion/complete': types.CompleteRequestSchema,
};
const RESULTS = {
  'elicitation/create': types.ElicitResultSchema,
  'roots/list': types.ListRootsResultSchema,
  'sampling/createMessage': types.CreateMessageResultSchema,
};

const server = new Server({ name: 'typescript-everything-v1', version: '1.0.0' }, OPTIONS);
const subscribed = new Set();
const context = ({ signal, sendNotification, sendRequest, _meta }) => ({
  modern: false,
  signal,
  elicitationId: { elicitationId: '1' },
  ask: async (question, then) => then(await sendRequest(question, RESULTS[question.method])),
  log: (level, data) => server.sendLoggingMessage({ level, data }),
  async progress(progress, total) {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return;
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } });
  },
  async updated(uri) {
    if (subscribed.has(uri)) await server.sendResourceUpdated({ uri });
  },
  toolsChanged: () => server.sendToolListChanged(),
  promptsChanged: () => server.sendPromptListChanged(),
});
const fail = (code, message, data) => new types.McpError(code, message, data);
for (const [method, handler] of Object.entries(handlers(fail))) {
  server.setRequestHandler(SCHEMAS[method], async ({ params }, extra) => handler(params, context(extra)));
}
server.setRequestHandler(types.SubscribeRequestSchema, async ({ params }) => (subscribed.add(params.uri), {}));
server.setRequestHandler(types.UnsubscribeRequestSchema, async ({ params }) => (subscribed.delete(params.uri), {}));
await server.connect(new StdioServerTransport());
