// A protected server with @modelcontextprotocol/server, whose tokens an authorization server issues.
//
// Usage: login-server.mjs HOST:PORT ISSUER, Streamable HTTP at /mcp
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { z } from 'zod';

const [address, issuer] = process.argv.slice(2);
const resource = new URL(`http://${address}/mcp`);
const oauthMetadata = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
const keys = createRemoteJWKSet(new URL(oauthMetadata.jwks_uri));

const verifier = {
  async verifyAccessToken(token) {
    try {
      const options = { issuer, audience: resource.href, typ: 'at+jwt', algorithms: ['ES256'] };
      const { payload } = await jwtVerify(token, keys, options);
      const { client_id: clientId, scope = '', exp: expiresAt, aud } = payload;
      return { token, clientId, scopes: scope.split(' '), expiresAt, resource: new URL(aud) };
    } catch (error) {
      throw new OAuthError(OAuthErrorCode.InvalidToken, error.message);
    }
  },
};
const gate = requireBearerAuth({
  verifier,
  requiredScopes: ['mcp'],
  expectedResource: resource,
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
});

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'typescript-protected', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});

async function serve(request) {
  const metadata = oauthMetadataResponse(request, { oauthMetadata, resourceServerUrl: resource, scopesSupported: ['mcp'] });
  if (metadata) return metadata;
  const authInfo = await gate(request);
  return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
}

createServer(getRequestListener(serve)).listen(Number(resource.port), resource.hostname);
