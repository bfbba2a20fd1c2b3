// Logs in at a protected server with @modelcontextprotocol/client, lists its tools and calls one.
//
// Usage: login-client.mjs REVISION URL
//
// Prints one JSON line per step. The authorization server must redirect at once, or have a consent page with one form.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [revision, url] = process.argv.slice(2);
const redirectUrl = 'http://127.0.0.1:33418/callback';
let location, registered, tokens, verifier, discovered;
const authProvider = {
  redirectUrl,
  clientMetadata: { client_name: 'typescript-interop', redirect_uris: [redirectUrl] },
  clientInformation: () => registered,
  saveClientInformation: (information) => void (registered = information),
  tokens: () => tokens,
  saveTokens: (issued) => void (tokens = issued),
  saveCodeVerifier: (value) => void (verifier = value),
  codeVerifier: () => verifier,
  saveDiscoveryState: (state) => void (discovered = state),
  discoveryState: () => discovered,
  redirectToAuthorization: browse,
};

// Follows the redirects of the authorization server up to the client, and answers its consent page if it has one.
async function browse(page) {
  let answer = await fetch(page, { redirect: 'manual' });
  const headers = { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
  if (!answer.headers.get('location')) {
    const text = await answer.text();
    const [, action] = text.match(/action="([^"]*)"/);
    const [, request] = text.match(/name="request" value="([^"]*)"/);
    const body = new URLSearchParams({ request, decision: 'allow' });
    answer = await fetch(action, { method: 'POST', redirect: 'manual', headers, body });
  }
  for (let next; !(next = answer.headers.get('location')).startsWith(redirectUrl);) {
    answer = await fetch(next, { redirect: 'manual', headers });
  }
  location = new URL(answer.headers.get('location'));
}

async function step(feature, doing) {
  try {
    const done = await doing();
    console.log(JSON.stringify({ feature, ok: true }));
    return done;
  } catch (error) {
    console.log(JSON.stringify({ feature, ok: false, detail: String(error) }));
    process.exit(1);
  }
}

const options = { versionNegotiation: { mode: revision === '2026-07-28' ? 'auto' : 'legacy' } };
const connect = async () => {
  const client = new Client({ name: 'typescript-interop', version: '1.0.0' }, options);
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !location) throw error;
    const { searchParams } = location;
    location = undefined;
    await transport.finishAuth(searchParams);
    return connect();
  }
};
const client = await step('log in', connect);
await step('list', () => client.listTools());
await step('call', async () => {
  const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
  if (content[0].text !== 'hello') throw new Error(JSON.stringify(content));
});
await client.close();
