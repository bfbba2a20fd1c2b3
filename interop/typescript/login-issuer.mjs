// An authorization server made with oidc-provider, whose user logs in and consents without a page.
//
// Usage: login-issuer.mjs PORT [CALLBACK]
//
// Clients register themselves, or there is one, whose users come back to CALLBACK.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const [port, callback] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;
const provider = new Provider(issuer, {
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  clients: callback && [{
    client_id: 'notes',
    client_secret: 's3cret',
    redirect_uris: [callback],
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
  }],
  cookies: { keys: ['of a test'] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: !callback },
    resourceIndicators: {
      enabled: !callback,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, audience) => ({ audience, scope: 'mcp', accessTokenFormat: 'jwt' }),
    },
  },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
  // Consent is given beforehand.
  async loadExistingGrant({ oidc }) {
    const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid offline_access mcp');
    for (const resource of callback ? [] : [oidc.params.resource].flat()) grant.addResourceScope(resource, 'mcp');
    await grant.save();
    return grant;
  },
});
const answer = provider.callback();

// Follows the pages of the provider, as a browser with cookies, until they lead elsewhere.
async function browse(path) {
  const cookies = new Map();
  let next = new URL(path, issuer);
  for (let hops = 0; next.origin === issuer; hops += 1) {
    if (hops === 20) throw new Error(`no end at ${next}`);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await fetch(next, { redirect: 'manual', headers: { cookie, 'x-browser': 'yes' } });
    for (const set of page.headers.getSetCookie()) {
      const [name, value] = set.split(';')[0].split('=');
      cookies.set(name, value);
    }
    const location = page.headers.get('location');
    if (!location) throw new Error(`${page.status} at ${next}: ${await page.text()}`);
    next = new URL(location, next);
  }
  return next.href;
}

createServer(async (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  try {
    if (pathname === '/auth' && !request.headers['x-browser']) {
      response.writeHead(302, { location: await browse(request.url) }).end();
    } else if (pathname.startsWith('/interaction/')) {
      await provider.interactionFinished(request, response, { login: { accountId: 'alice' }, consent: {} });
    } else {
      await answer(request, response);
    }
  } catch (error) {
    console.error(error);
    response.writeHead(500).end(String(error));
  }
}).listen(Number(port), '127.0.0.1');
