// What both clients of the TypeScript SDKs do: drive a server through every feature, one JSON line for each.
import assert from 'node:assert/strict';

// Everything that a line-framed pipe and an escaping writer can get wrong.
const TEXT = 'line\nbreak, "quotes", back\\slash, \u00e9\u4e2d\u{1f980}, \u2028, \x01';
const ROOT = 'file:///srv/interop';
export const MODERN = '2026-07-28';
export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
const TASKS = ['tasks', 'task-input', 'task-errors', 'task-cancel', 'task-listen'];
export const NO_TASKS = Object.fromEntries(TASKS.map((feature) => [feature, 'the SDK knows no tasks of 2026-07-28']));

// The one connection, what its server asked and told.
export class Driver {
  action = 'accept';
  asked = [];
  logs = [];
  told = [];

  // `peer` evens out what the two SDKs name differently: see client.mjs.
  constructor(client, revision, peer) {
    Object.assign(this, { client, revision, peer, modern: revision === MODERN });
    peer.onRequest('elicitation/create', ({ params }) => this.elicited(params));
    peer.onRequest('roots/list', () => ({ roots: [{ uri: ROOT, name: 'interop' }] }));
    peer.onRequest('sampling/createMessage', ({ params }) => {
      const content = [params.messages[0].content].flat()[0];
      return { role: 'assistant', model: 'none', content: { type: 'text', text: `heard ${content.text}` } };
    });
    peer.onNotification('notifications/message', ({ params }) => void this.logs.push(params));
    for (const method of ['resources/updated', 'tools/list_changed', 'prompts/list_changed']) {
      peer.onNotification(`notifications/${method}`, (note) => void this.told.push(note));
    }
  }

  elicited(params) {
    this.asked.push(params);
    if (this.action !== 'accept' || params.mode === 'url') return { action: this.action };
    return { action: 'accept', content: fill(params.requestedSchema) };
  }

  async run(lacks) {
    for (const [feature, reason] of Object.entries(lacks)) report(feature, { lacks: reason });
    for (const [feature, drive] of Object.entries(FEATURES)) {
      if (lacks[feature]) continue;
      try {
        await within(30_000, drive(this));
        report(feature, { ok: true });
      } catch (error) {
        report(feature, { ok: false, detail: String(error?.stack ?? error).split('\n').slice(0, 8).join(' | ') });
      }
    }
    // The SDKs wait two seconds for a server to end by itself before they end it.
    const began = performance.now();
    await this.client.close();
    const took = performance.now() - began;
    report('close', { ok: took < 1_500, detail: `${(took / 1_000).toFixed(1)} s` });
  }

  async text(name, args = {}) {
    return (await this.tool(name, args)).content.map((block) => block.text).join('');
  }

  async tool(name, args = {}, options = {}) {
    const answer = await this.peer.callTool({ name, arguments: args }, options);
    assert(!answer.isError, JSON.stringify(answer));
    return answer;
  }

  async pages(method, member, atLeast = 1) {
    const items = [];
    let cursor;
    let count = 0;
    do {
      const page = await this.peer.page(method, cursor && { cursor });
      items.push(...page[member]);
      cursor = page.nextCursor;
      count += 1;
    } while (cursor);
    assert(count >= atLeast, `${method}: ${count} pages`);
    return items;
  }
}

const FEATURES = {
  async negotiate({ client, revision, peer }) {
    assert.equal(peer.revision(), revision);
    const { name, version } = client.getServerVersion();
    assert(name && version);
    const { tools, resources, prompts } = client.getServerCapabilities();
    assert(tools && resources && prompts);
    assert(client.getInstructions(), 'no instructions');
  },
  async ping({ client }) {
    await client.ping();
  },
  async list(driver) {
    const tools = await driver.pages('tools/list', 'tools', 2);
    assert(tools.some(({ name }) => name === 'echo'));
    const resources = await driver.pages('resources/list', 'resources');
    assert(resources.some(({ uri }) => uri === 'test://static-text'));
    const templates = await driver.pages('resources/templates/list', 'resourceTemplates');
    assert(templates.some(({ uriTemplate }) => uriTemplate === 'test://template/{id}/data'));
    const prompts = await driver.pages('prompts/list', 'prompts');
    assert(prompts.some(({ name }) => name === 'test_prompt_with_arguments'));
    await refused(driver.peer.page('tools/list', { cursor: 'no such cursor' }), -32602);
  },
  async call(driver) {
    assert.equal(await driver.text('echo', { text: TEXT }), TEXT);
    assert.equal(await driver.text('test_simple_text'), 'This is a simple text response for testing.');
    const numbers = Array.from({ length: 50 }, (_, n) => String(n));
    assert.deepEqual(await Promise.all(numbers.map((text) => driver.text('echo', { text }))), numbers);
  },
  async content(driver) {
    const [image] = (await driver.tool('test_image_content')).content;
    assert.equal(image.mimeType, 'image/png');
    assert(Buffer.from(image.data, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
    if (driver.revision >= '2025-03-26') {
      const [audio] = (await driver.tool('test_audio_content')).content;
      assert.equal(audio.mimeType, 'audio/wav');
      assert(Buffer.from(audio.data, 'base64').subarray(0, 4).equals(Buffer.from('RIFF')));
    }
    const [embedded] = (await driver.tool('test_embedded_resource')).content;
    assert.equal(embedded.resource.uri, 'test://embedded-resource');
    const kinds = (await driver.tool('test_multiple_content_types')).content.map(({ type }) => type);
    assert.deepEqual(kinds, ['text', 'image', 'resource']);
  },
  async structured(driver) {
    await driver.client.listTools();
    assert.deepEqual((await driver.tool('add', { a: 1, b: 2 })).structuredContent, { sum: 3 });
  },
  async errors(driver) {
    const { peer, client } = driver;
    const failed = await peer.callTool({ name: 'test_error_handling', arguments: {} });
    assert(failed.isError && failed.content[0].text);
    for (const params of [{ name: 'add', arguments: { a: 'one' } }, { name: 'no_such_tool', arguments: {} }]) {
      const answer = await outcome(peer.callTool(params));
      assert(answer === -32602 || answer.isError, JSON.stringify(answer));
    }
    await refused(client.readResource({ uri: 'test://no-such-resource' }), peer.notFound);
    await refused(client.getPrompt({ name: 'no_such_prompt' }), -32602);
  },
  async progress(driver) {
    let seen;
    // The SDKs lose what arrives in one read with the answer, which a pause between the two makes rare, not impossible.
    for (let attempt = 0; attempt < 5 && seen?.length !== 3; attempt += 1) {
      seen = [];
      await driver.tool('test_tool_with_progress', {}, { onprogress: ({ progress, total }) => seen.push([progress, total]) });
    }
    assert.deepEqual(seen, [[0, 100], [50, 100], [100, 100]]);
  },
  async cancel(driver) {
    const abort = new AbortController();
    const sleeping = driver.tool('sleep', { ms: 60_000 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 200);
    await assert.rejects(sleeping);
    assert.equal(await driver.text('echo', { text: 'awake' }), 'awake');
    if (!driver.peer.requests) return;
    // A client over HTTP resumes the stream of the cancelled call, a second later and at most once more. Then it is quiet.
    await pause(2_600);
    const requests = driver.peer.requests();
    await pause(1_600);
    assert.equal(driver.peer.requests(), requests, 'requests after a cancellation');
  },
  async logging(driver) {
    const { client, logs, modern, peer } = driver;
    if (modern) {
      await driver.tool('test_logging_tool');
      assert.equal(logs.length, 0, 'logs without a level');
      await peer.callTool({ name: 'test_logging_tool', arguments: {}, _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } });
    } else {
      await client.setLoggingLevel('error');
      await driver.tool('test_tool_with_logging');
      assert.equal(logs.length, 0, 'logs below the level');
      await client.setLoggingLevel('info');
      await driver.tool('test_tool_with_logging');
    }
    await until(() => logs.length >= (modern ? 1 : 3));
    assert(logs[0].level === 'info' && logs[0].data);
  },
  async elicit(driver) {
    assert((await driver.text('test_elicitation', { message: 'Who?' })).includes('ada@example.com'));
    assert.equal(driver.asked.pop().message, 'Who?');
    driver.action = 'decline';
    await driver.tool('test_elicitation', { message: 'Who?' });
    driver.action = 'accept';
    if (driver.revision >= '2025-11-25') {
      assert((await driver.text('test_elicitation_sep1034_defaults')).includes('John Doe'));
      await driver.text('test_elicitation_sep1330_enums');
    }
  },
  async 'elicit-url'(driver) {
    await driver.text('elicit_url');
    const { mode, url } = driver.asked.pop();
    assert.deepEqual([mode, url], ['url', 'https://example.com/authorize']);
  },
  async sampling(driver) {
    assert.equal(await driver.text('test_sampling', { prompt: 'a poem' }), 'LLM response: heard a poem');
  },
  async roots(driver) {
    assert((await driver.text('list_roots')).includes(ROOT));
    if (!driver.modern) await driver.client.sendRootsListChanged();
  },
  async rounds(driver) {
    driver.asked.length = 0;
    await driver.text('test_input_required_result_multi_round');
    assert.equal(driver.asked.length, 2);
    await driver.text('test_input_required_result_multiple_inputs');
    assert((await driver.client.getPrompt({ name: 'test_input_required_result_prompt' })).messages.length > 0);
  },
  async resources({ client }) {
    const [text] = (await client.readResource({ uri: 'test://static-text' })).contents;
    assert.equal(text.text, 'This is the content of the static text resource.');
    const [blob] = (await client.readResource({ uri: 'test://static-binary' })).contents;
    assert(Buffer.from(blob.blob, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
  },
  async templates({ client }) {
    const [text] = (await client.readResource({ uri: 'test://template/123/data' })).contents;
    assert.deepEqual(JSON.parse(text.text), { id: '123', templateTest: true, data: 'Data for ID: 123' });
  },
  async subscribe(driver) {
    const { client, modern, told } = driver;
    const uri = 'test://watched-resource';
    const updates = () => told.filter(({ method }) => method === 'notifications/resources/updated').map(({ params }) => params.uri);
    const subscription = modern ? await client.listen({ resourceSubscriptions: [uri] }) : await client.subscribeResource({ uri });
    await driver.text('touch_resource', { uri });
    await until(() => updates().length > 0);
    if (modern) await subscription.close();
    else await client.unsubscribeResource({ uri });
    await driver.text('touch_resource', { uri });
    await driver.text('echo', { text: 'after' });
    assert.deepEqual(updates(), [uri]);
  },
  async changes(driver) {
    const subscription = driver.modern && (await driver.client.listen({ toolsListChanged: true, promptsListChanged: true }));
    for (const kind of ['tool', 'prompt']) {
      await driver.text(`test_trigger_${kind}_change`);
      await until(() => driver.told.some(({ method }) => method === `notifications/${kind}s/list_changed`));
    }
    if (subscription) await subscription.close();
  },
  async prompts({ client }) {
    const first = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0];
    const simple = await first('test_simple_prompt');
    assert(simple.role === 'user' && simple.content.text);
    const filled = await first('test_prompt_with_arguments', { arg1: 'hello', arg2: 'world' });
    assert.equal(filled.content.text, "Prompt with arguments: arg1='hello', arg2='world'");
    const embedded = await first('test_prompt_with_embedded_resource', { resourceUri: 'test://a' });
    assert.equal(embedded.content.resource.uri, 'test://a');
    assert.equal((await first('test_prompt_with_image')).content.type, 'image');
  },
  async complete({ client, revision }) {
    const prompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
    const plain = await client.complete({ ref: prompt, argument: { name: 'arg1', value: 'par' } });
    assert.deepEqual(plain.completion.values, ['paris', 'park', 'party']);
    if (revision >= '2025-06-18') {
      const context = { arguments: { arg2: 'x' } };
      const suffixed = await client.complete({ ref: prompt, argument: { name: 'arg1', value: 'pari' }, context });
      assert.deepEqual(suffixed.completion.values, ['paris-x']);
    }
    const template = { type: 'ref/resource', uri: 'test://template/{id}/data' };
    const { completion } = await client.complete({ ref: template, argument: { name: 'id', value: '' } });
    assert(completion.values.length === 100 && completion.hasMore);
  },
  async skills({ peer: { skills } }) {
    assert(skills.supported);
    const { skills: all } = await skills.list();
    assert.deepEqual(all.map(({ frontmatter }) => frontmatter.name).sort(), ['letters', 'poems']);
    const uri = 'skill://letters/SKILL.md';
    const { skill } = await skills.get(uri);
    assert.deepEqual(skill, all.find((other) => other.uri === uri));
    const { frontmatter, body } = await skills.read(skill);
    assert.equal(frontmatter.license, 'MIT');
    assert.deepEqual(frontmatter.metadata, { version: '1.0' });
    assert(body.includes('references/forms.md'));
    assert.equal(skill.resources.length, 4);
    for (const file of skill.resources) assert((await skills.read(skill, file.uri)).verified);
    await refused(skills.get('skill://none/SKILL.md'), -32602);
  },
  async directories({ peer: { skills } }) {
    assert(skills.directoryRead);
    const { resources } = await skills.readDirectory('skill://letters');
    const folders = resources.filter(({ mimeType }) => mimeType === 'inode/directory');
    assert.deepEqual(folders.map((folder) => folder.uri).sort(), ['skill://letters/assets', 'skill://letters/references']);
    await refused(skills.readDirectory('skill://none'), -32602);
  },
};

// What a person would answer who takes every default.
export function fill(schema) {
  const value = (name, field) => {
    if (field.default !== undefined) return field.default;
    const options = (of) => of.enum ?? (of.oneOf ?? of.anyOf)?.map((option) => option.const);
    if (field.type === 'array') return [options(field.items)[0]];
    if (options(field)) return options(field)[0];
    if (field.type === 'string') return field.format === 'email' || name === 'email' ? 'ada@example.com' : 'ada';
    return field.type === 'boolean' ? true : 1;
  };
  return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, value(name, field)]));
}

async function until(condition) {
  for (const began = performance.now(); !condition(); ) {
    assert(performance.now() - began < 20_000, `in vain: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function within(milliseconds, work) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('timed out')), milliseconds)));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

// The answer, or the code of the refusal.
const outcome = (request) => request.catch((error) => error.code);

export async function refused(request, code) {
  assert.equal(await outcome(request), code);
}

export function report(feature, facts) {
  console.log(JSON.stringify({ feature, ...facts }));
}
