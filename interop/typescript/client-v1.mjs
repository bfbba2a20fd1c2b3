// Drives a server with @modelcontextprotocol/sdk, in the revisions with a handshake: it knows no other.
//
// Usage: client-v1.mjs REVISION COMMAND [ARGUMENT...], or REVISION URL; a path of /sse is HTTP+SSE
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { CAPABILITIES, Driver, NO_TASKS } from './driver.mjs';

const REQUESTS = {
  'elicitation/create': types.ElicitRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
  'sampling/createMessage': types.CreateMessageRequestSchema,
};
const NOTIFICATIONS = {
  'notifications/message': types.LoggingMessageNotificationSchema,
  'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
  'notifications/prompts/list_changed': types.PromptListChangedNotificationSchema,
};
const LISTS = {
  'tools/list': 'listTools',
  'resources/list': 'listResources',
  'resources/templates/list': 'listResourceTemplates',
  'prompts/list': 'listPrompts',
};

const [revision, command, ...args] = process.argv.slice(2);
let requests = 0;
const counted = (...request) => ((requests += 1), fetch(...request));
const client = new Client({ name: 'typescript-interop-v1', version: '1.0.0' }, { capabilities: CAPABILITIES });
const transport = reach(command, args);
let agreed = null;
const inform = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  agreed = version;
  inform?.(version);
};
const driver = new Driver(client, revision, {
  onRequest: (method, handler) => client.setRequestHandler(REQUESTS[method], async (request) => handler(request)),
  onNotification: (method, handler) => client.setNotificationHandler(NOTIFICATIONS[method], handler),
  callTool: (params, options) => client.callTool(params, undefined, options),
  page: (method, params) => client[LISTS[method]](params),
  notFound: -32002,
  revision: () => agreed,
  requests: transport instanceof StreamableHTTPClientTransport && (() => requests),
});
await client.connect(transport);
const skills = 'the SDK knows no skills';
await driver.run({ rounds: 'the revision that brought them', skills, directories: skills, ...NO_TASKS });

function reach(command, args) {
  if (!command.startsWith('http')) return new StdioClientTransport({ command, args });
  const url = new URL(command);
  return url.pathname.endsWith('/sse') ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url, { fetch: counted });
}
