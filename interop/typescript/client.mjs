// A client of the TypeScript SDK against the stdio server on its command line.
//
// Usage: client.mjs MODE COMMAND [ARGUMENT...]    MODE: legacy (this SDK knows no other)
//
// Prints one JSON line for every step that worked: initialised, listed, called, closed.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

// Everything that a line-framed pipe and an escaping writer can get wrong.
const TEXT = 'line\nbreak, "quotes", back\\slash, \u00e9\u4e2d\u{1f980}, \u2028, \x01';

const done = (step, facts = {}) => console.log(JSON.stringify({ step, ...facts }));

const [mode, command, ...args] = process.argv.slice(2);
assert.equal(mode, 'legacy');
const deadline = setTimeout(() => { console.error('timed out'); process.exit(1); }, 30_000);

const transport = new StdioClientTransport({ command, args });
let revision = null;
transport.setProtocolVersion = (agreed) => { revision = agreed; };
const client = new Client({ name: 'typescript-client', version: '1.0.0' });
await client.connect(transport);
done('initialised', { revision, server: client.getServerVersion()?.name });

const { tools } = await client.listTools();
assert(tools.some((tool) => tool.name === 'echo'));
done('listed');

const answer = await client.callTool({ name: 'echo', arguments: { text: TEXT } });
assert(!answer.isError);
assert.equal(answer.content[0].text, TEXT);
done('called');

await client.close();
done('closed');
clearTimeout(deadline);
