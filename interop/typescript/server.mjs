// The features of the `everything` example with @modelcontextprotocol/server, in both eras.
//
// Usage: server.mjs [--http HOST:PORT]
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { handlers, OPTIONS } from './everything.mjs';

// `notify` tells those who listen of changes where each request has a server of its own.
function everything({ era }, notify) {
  const server = new Server({ name: 'typescript-everything', version: '1.0.0' }, OPTIONS);
  const subscribed = new Set();
  const modern = era === 'modern';
  const context = ({ mcpReq }) => ({
    modern,
    signal: mcpReq.signal,
    state: mcpReq.requestState(),
    answers: mcpReq.inputResponses,
    elicitationId: modern ? {} : { elicitationId: '1' },
    // The SDK turns the question into a request of its own in the era of the handshake.
    ask(question, then) {
      const answer = mcpReq.inputResponses?.question;
      return answer ? then(answer) : { resultType: 'input_required', inputRequests: { question } };
    },
    log: (level, data) => mcpReq.log(level, data),
    async progress(progress, total) {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
    },
    async updated(uri) {
      if (notify) notify.resourceUpdated(uri);
      else if (modern || subscribed.has(uri)) await server.sendResourceUpdated({ uri });
    },
    toolsChanged: () => (notify ? notify.toolsChanged() : server.sendToolListChanged()),
    promptsChanged: () => (notify ? notify.promptsChanged() : server.sendPromptListChanged()),
  });
  const all = handlers((code, message, data) => new ProtocolError(code, message, data));
  for (const [method, handler] of Object.entries(all)) {
    server.setRequestHandler(method, async ({ params }, cx) => handler(params, context(cx)));
  }
  server.setRequestHandler('resources/subscribe', async ({ params }) => (subscribed.add(params.uri), {}));
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => (subscribed.delete(params.uri), {}));
  return server;
}

// Requests of the modern era go to a handler of the SDK, those of a session to their transport.
const handler = createMcpHandler((cx) => everything(cx, handler.notify), { legacy: 'reject' });
const sessions = new Map();
async function serve(request) {
  if (!(await isLegacyRequest(request.clone()))) return handler.fetch(request);
  const known = sessions.get(request.headers.get('mcp-session-id'));
  if (known) return known.handleRequest(request);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await everything({ era: 'legacy' }).connect(transport);
  return transport.handleRequest(request);
}

const [flag, address] = process.argv.slice(2);
if (flag === '--http') {
  const { hostname, port } = new URL(`http://${address}`);
  createServer(getRequestListener(serve)).listen(Number(port), hostname);
} else {
  serveStdio((cx) => everything(cx));
}
