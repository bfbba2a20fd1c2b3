// The features of the `everything` example with @modelcontextprotocol/server, in both eras.
import { ProtocolError, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { handlers, OPTIONS } from './everything.mjs';

function everything({ era }) {
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
      if (modern || subscribed.has(uri)) await server.sendResourceUpdated({ uri });
    },
    toolsChanged: () => server.sendToolListChanged(),
    promptsChanged: () => server.sendPromptListChanged(),
  });
  const all = handlers((code, message, data) => new ProtocolError(code, message, data));
  for (const [method, handler] of Object.entries(all)) {
    server.setRequestHandler(method, async ({ params }, cx) => handler(params, context(cx)));
  }
  server.setRequestHandler('resources/subscribe', async ({ params }) => (subscribed.add(params.uri), {}));
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => (subscribed.delete(params.uri), {}));
  return server;
}

serveStdio(everything);
