// Drives a server with @modelcontextprotocol/client, in any revision.
//
// Usage: client.mjs REVISION COMMAND [ARGUMENT...], or REVISION URL
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CAPABILITIES, Driver, MODERN, NO_TASKS } from './driver.mjs';

const [revision, command, ...args] = process.argv.slice(2);
const remote = command.startsWith('http');
let requests = 0;
const counted = (...request) => ((requests += 1), fetch(...request));
const client = new Client(
  { name: 'typescript-interop', version: '1.0.0' },
  {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: revision === MODERN ? 'auto' : 'legacy' },
    // What it offers first; a server that speaks it agrees.
    ...(revision !== MODERN && { supportedProtocolVersions: [revision] }),
  },
);
const driver = new Driver(client, revision, {
  onRequest: (method, handler) => client.setRequestHandler(method, async (request) => handler(request)),
  onNotification: (method, handler) => client.setNotificationHandler(method, handler),
  callTool: (params, options) => client.callTool(params, options),
  // The list methods join all pages.
  page: (method, params) => client.request({ method, params }),
  // It turns -32002, the code of the revisions with a handshake, into the one of 2026-07-28.
  notFound: -32602,
  revision: () => client.getNegotiatedProtocolVersion(),
  requests: remote && (() => requests),
  skills: new SkillsClient(client),
});
await client.connect(remote ? new StreamableHTTPClientTransport(new URL(command), { fetch: counted }) : new StdioClientTransport({ command, args }));
const directories = 'the SDK refuses answers without ttlMs and cacheScope, which those of resources/directory/read do not have';
await driver.run({ ...NO_TASKS, ...(revision === MODERN && { directories }) });
