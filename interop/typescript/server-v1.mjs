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
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import { form, handlers, OPTIONS, schema } from './everything.mjs';

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

const TASKS = {
  slow_compute: { seconds: 'number', label: 'string' },
  confirm_delete: { filename: 'string' },
  multi_input: {},
};
// What the tools do whose calls become tasks. `ask` asks a question of the task.
const WORK = {
  async slow_compute({ seconds, label }) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000).unref());
    return `computed ${label} in ${seconds} s`;
  },
  async confirm_delete({ filename }, ask) {
    const { content } = await ask(`Delete ${filename}?`, { confirm: 'boolean' });
    return `${filename} is ${content?.confirm ? 'deleted' : 'kept'}`;
  },
  async multi_input(_, ask) {
    const answers = await Promise.all(['first', 'second'].map((key) => ask(`Who is ${key}?`, { name: 'string' })));
    return answers.map(({ content }) => content.name).join(', ');
  },
};
const store = new InMemoryTaskStore();
const queue = new InMemoryTaskMessageQueue();

// Creates the task of a call and returns it.
async function begin({ name, arguments: args, task }, { taskStore, sendRequest }) {
  if (!task) throw new types.McpError(-32601, `${name} is always a task`);
  const created = await taskStore.createTask({ ttl: task.ttl, pollInterval: 50 });
  const relatedTask = { taskId: created.taskId };
  const ask = (message, properties) => sendRequest(form(message, schema(properties)), types.ElicitResultSchema, { relatedTask });
  const end = (status, text) => taskStore.storeTaskResult(created.taskId, status, { content: [{ type: 'text', text }] });
  // What ends after the cancellation of its task is not stored.
  void WORK[name](args, ask).then((text) => end('completed', text)).catch(() => {});
  return { task: created };
}

// One connection on stdio, one session over HTTP.
function everything() {
  const server = new Server({ name: 'typescript-everything-v1', version: '1.0.0' }, {
    ...OPTIONS,
    capabilities: { ...OPTIONS.capabilities, tasks: { cancel: {}, list: {}, requests: { tools: { call: {} } } } },
    taskStore: store,
    taskMessageQueue: queue,
  });
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
  const all = handlers(fail);
  for (const [method, handler] of Object.entries(all)) {
    server.setRequestHandler(SCHEMAS[method], async ({ params }, extra) => handler(params, context(extra)));
  }
  server.setRequestHandler(types.ListToolsRequestSchema, async ({ params }) => {
    const page = all['tools/list'](params);
    if (page.nextCursor) return page;
    const tasks = Object.entries(TASKS).map(([name, properties]) => ({ name, inputSchema: schema(properties), execution: { taskSupport: 'required' } }));
    return { tools: [...page.tools, ...tasks] };
  });
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) =>
    TASKS[params.name] ? begin(params, extra) : all['tools/call'](params, context(extra)));
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
  // Timers of the SDK for its tasks would keep the process for a minute.
  process.stdin.once('end', () => process.exit());
  await everything().connect(new StdioServerTransport());
}
