// The features of the `everything` example with @modelcontextprotocol/server, in both eras.
//
// Usage: server.mjs [--http HOST:PORT]
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  ProtocolError,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { handlers, OPTIONS, SKILLS } from './everything.mjs';

const skills = await SkillsExtension.load(memorySkillFiles(SKILLS), { strict: true });

// `notify` tells those who listen of changes where each request has a server of its own.
function everything({ era }, notify) {
  const mcp = new McpServer({ name: 'typescript-everything', version: '1.0.0' }, OPTIONS);
  const { server } = mcp;
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
  // Skills are resources of the SDK's own registry, and so is the rest.
  skills.attach(mcp);
  const read = (uri, cx) => all['resources/read']({ uri: uri.href }, context(cx));
  for (const { name, uri } of all['resources/list']().resources) mcp.registerResource(name, uri, {}, read);
  for (const { name, uriTemplate } of all['resources/templates/list']().resourceTemplates) {
    const template = new ResourceTemplate(uriTemplate, { list: undefined });
    mcp.registerResource(name, template, {}, (uri, _, cx) => read(uri, cx));
  }
  for (const [method, handler] of Object.entries(all)) {
    if (method.startsWith('resources/')) continue;
    server.setRequestHandler(method, async ({ params }, cx) => handler(params, context(cx)));
  }
  server.setRequestHandler('resources/subscribe', async ({ params }) => (subscribed.add(params.uri), {}));
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => (subscribed.delete(params.uri), {}));
  return mcp;
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
