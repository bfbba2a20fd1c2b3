// The features of the `everything` example with @modelcontextprotocol/sdk, which knows the handshake only.
//
// Usage: server-v1.mjs [--http HOST:PORT], Streamable HTTP at /mcp and HTTP+SSE at /sse
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
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

// One connection on stdio, one session over HTTP.
function everything() {
  const server = new Server({ name: 'typescript-everything-v1', version: '1.0.0' }, OPTIONS);
  const subscribed = new Set();
  const context = ({ signal, sendNotification, sendRequest, sessionId, _meta }) => ({
    modern: false,
    signal,
    elicitationId: { elicitationId: '1' },
    ask: async (question, then) => then(await sendRequest(question, RESULTS[question.method])),
    log: (level, data) => server.sendLoggingMessage({ level, data }, sessionId),
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
  return server;
}

const sessions = new Map();
async function serve(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/sse') {
    if (request.method !== 'GET') return response.writeHead(405).end();
    const transport = new SSEServerTransport('/messages', response);
    sessions.set(transport.sessionId, transport);
    return everything().connect(transport);
  }
  if (pathname === '/messages') return sessions.get(searchParams.get('sessionId')).handlePostMessage(request, response);
  const known = sessions.get(request.headers['mcp-session-id']);
  if (known) return known.handleRequest(request, response);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await everything().connect(transport);
  return transport.handleRequest(request, response);
}

const [flag, address] = process.argv.slice(2);
if (flag === '--http') {
  const { hostname, port } = new URL(`http://${address}`);
  createServer((request, response) => void serve(request, response)).listen(Number(port), hostname);
} else {
  await everything().connect(new StdioServerTransport());
}
