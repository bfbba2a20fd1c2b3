// The features of the `everything` example for the low-level servers of both TypeScript SDKs.

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const PAGE = 10;
export const OPTIONS = {
  capabilities: {
    completions: {},
    logging: {},
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    tools: { listChanged: true },
  },
  instructions: 'Every feature once.',
};

export const schema = (properties = {}) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(properties).map(([name, type]) => [name, { type }])),
  required: Object.keys(properties),
});
const TOOLS = {
  echo: { text: 'string' },
  add: { a: 'number', b: 'number' },
  sleep: { ms: 'number' },
  list_roots: {},
  elicit_url: {},
  touch_resource: { uri: 'string' },
  test_simple_text: {},
  test_image_content: {},
  test_audio_content: {},
  test_embedded_resource: {},
  test_multiple_content_types: {},
  test_tool_with_logging: {},
  test_logging_tool: {},
  test_error_handling: {},
  test_tool_with_progress: {},
  test_sampling: { prompt: 'string' },
  test_elicitation: { message: 'string' },
  test_elicitation_sep1034_defaults: {},
  test_elicitation_sep1330_enums: {},
  test_input_required_result_multi_round: {},
  test_input_required_result_multiple_inputs: {},
  test_trigger_tool_change: {},
  test_trigger_prompt_change: {},
};
const PROMPTS = {
  test_simple_prompt: [],
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
  test_prompt_with_image: [],
  test_input_required_result_prompt: [],
};

const skillMd = (yaml, body) => `---\n${yaml}\n---\n${body}\n`;
// The files of the skills by their paths.
export const SKILLS = {
  'letters/SKILL.md': skillMd(
    'name: letters\ndescription: Writes letters.\nlicense: MIT\nmetadata:\n  version: "1.0"',
    'Read references/forms.md.',
  ),
  'letters/references/forms.md': '# Forms\n',
  'letters/references/old/forms.md': '# Forms before 1990\n',
  'letters/assets/stamp.png': new Uint8Array(Buffer.from(PNG, 'base64')),
  'poems/SKILL.md': skillMd('name: poems\ndescription: Writes short poems.', 'Write four lines that rhyme.'),
};

const text = (value) => ({ type: 'text', text: value });
const content = (...blocks) => ({ content: blocks });
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri) => ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'embedded' } });
const user = (block) => ({ messages: [{ role: 'user', content: block }] });
export const form = (message, requestedSchema) => ({ method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } });
const sampling = (prompt) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 },
});

// What the example's tools do. `cx` evens out what the two SDKs name differently: see server.mjs.
const CALLS = {
  echo: (args) => content(text(args.text)),
  add({ a, b }) {
    const structuredContent = { sum: a + b };
    return { ...content(text(JSON.stringify(structuredContent))), structuredContent };
  },
  sleep: ({ ms }, cx) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(content(text('slept'))), ms);
      cx.signal.addEventListener('abort', () => clearTimeout(timer));
    }),
  list_roots: (_, cx) =>
    cx.ask({ method: 'roots/list' }, ({ roots }) => content(text(roots.map(({ uri }) => uri).join('\n')))),
  elicit_url: (_, cx) =>
    cx.ask(
      { method: 'elicitation/create', params: { mode: 'url', message: 'Authorize', url: 'https://example.com/authorize', ...cx.elicitationId } },
      ({ action }) => content(text(action)),
    ),
  async touch_resource({ uri }, cx) {
    await cx.updated(uri);
    return content(text('touched'));
  },
  test_simple_text: () => content(text('This is a simple text response for testing.')),
  test_image_content: () => content(IMAGE),
  test_audio_content: () => content({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () => content(embedded('test://embedded-resource')),
  test_multiple_content_types: () => content(text('several'), IMAGE, embedded('test://mixed-content-resource')),
  test_tool_with_logging: (_, cx) => log(cx),
  test_logging_tool: (_, cx) => log(cx),
  test_error_handling: () => ({ ...content(text('This tool intentionally returns an error')), isError: true }),
  async test_tool_with_progress(_, cx) {
    for (const progress of [0, 50, 100]) {
      await cx.progress(progress, 100);
      // The clients of these SDKs lose progress that arrives in one read with the answer.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return content(text('done'));
  },
  test_sampling: ({ prompt }, cx) =>
    cx.ask(sampling(prompt), (reply) => content(text(`LLM response: ${reply.content.text}`))),
  test_elicitation: ({ message }, cx) =>
    cx.ask(form(message, schema({ username: 'string', email: 'string' })), (reply) =>
      content(text(`User response: ${reply.action} ${JSON.stringify(reply.content)}`))),
  test_elicitation_sep1034_defaults(_, cx) {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    };
    return cx.ask(form('Defaults', { type: 'object', properties }), (reply) => content(text(JSON.stringify(reply.content))));
  },
  test_elicitation_sep1330_enums(_, cx) {
    const choices = [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }];
    const properties = {
      untitledSingle: { type: 'string', enum: ['a', 'b'] },
      titledSingle: { type: 'string', oneOf: choices },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      titledMulti: { type: 'array', items: { anyOf: choices } },
    };
    return cx.ask(form('Enums', { type: 'object', properties }), (reply) => content(text(JSON.stringify(reply.content))));
  },
  test_input_required_result_multi_round(_, cx) {
    if (cx.state === undefined) return again({ step1: form('Step 1', schema({ name: 'string' })) }, 'first');
    if (cx.state === 'first') return again({ step2: form('Step 2', schema({ color: 'string' })) }, 'second');
    return content(text('both steps'));
  },
  test_input_required_result_multiple_inputs(_, cx) {
    const wanted = {
      user_name: form('Your name?', schema({ name: 'string' })),
      greeting: sampling('Greet'),
      client_roots: { method: 'roots/list' },
    };
    const all = Object.keys(wanted).every((key) => cx.answers?.[key]);
    return all ? content(text('all three')) : again(wanted);
  },
  async test_trigger_tool_change(_, cx) {
    await cx.toolsChanged();
    return content(text('changed'));
  },
  async test_trigger_prompt_change(_, cx) {
    await cx.promptsChanged();
    return content(text('changed'));
  },
};

const GETS = {
  test_simple_prompt: () => user(text('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri }) => user(embedded(resourceUri)),
  test_prompt_with_image: () => user(IMAGE),
  test_input_required_result_prompt: (_, cx) =>
    cx.ask(form('What for?', schema({ context: 'string' })), (reply) => user(text(`For ${JSON.stringify(reply.content)}`))),
};

// The handlers by method. `fail(code, message, data)` makes an error of the SDK.
export function handlers(fail) {
  const pages = (member, items) => (params) => {
    const start = Number(params?.cursor ?? 0);
    if (!Number.isInteger(start)) throw fail(-32602, 'unknown cursor');
    const end = start + PAGE;
    return { [member]: items.slice(start, end), ...(end < items.length && { nextCursor: String(end) }) };
  };
  const outputSchema = schema({ sum: 'number' });
  const tools = Object.entries(TOOLS).map(([name, properties]) => ({
    name,
    description: name,
    inputSchema: schema(properties),
    ...(name === 'add' && { outputSchema }),
  }));
  const resources = ['static-text', 'static-binary', 'watched-resource'].map((name) => ({ name, uri: `test://${name}` }));
  const prompts = Object.entries(PROMPTS).map(([name, names]) => ({
    name,
    description: name,
    arguments: names.map((argument) => ({ name: argument, required: true })),
  }));
  return {
    'tools/list': pages('tools', tools),
    'resources/list': pages('resources', resources),
    'resources/templates/list': pages('resourceTemplates', [{ name: 'template', uriTemplate: 'test://template/{id}/data' }]),
    'prompts/list': pages('prompts', prompts),
    'tools/call'({ name, arguments: args = {} }, cx) {
      if (!TOOLS[name]) throw fail(-32602, `unknown tool ${name}`);
      const wrong = Object.entries(TOOLS[name]).find(([argument, type]) => typeof args[argument] !== type);
      return wrong ? { ...content(text(`wrong argument ${wrong[0]}`)), isError: true } : CALLS[name](args, cx);
    },
    'prompts/get'({ name, arguments: args = {} }, cx) {
      if (!PROMPTS[name]) throw fail(-32602, `unknown prompt ${name}`);
      return GETS[name](args, cx);
    },
    'resources/read'({ uri }, cx) {
      const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
      const data = () => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      if (id) return { contents: [{ uri, mimeType: 'application/json', text: data() }] };
      if (uri === 'test://static-text') return { contents: [{ uri, text: 'This is the content of the static text resource.' }] };
      if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
      if (uri === 'test://watched-resource') return { contents: [{ uri, text: 'watched' }] };
      throw fail(cx.modern ? -32602 : -32002, 'Resource not found', { uri });
    },
    'completion/complete'({ ref, argument, context }) {
      const suffix = context?.arguments?.arg2 ? `-${context.arguments.arg2}` : '';
      const offered = ref.type === 'ref/prompt' ? ['paris', 'park', 'party'] : Array.from({ length: 150 }, (_, n) => String(n + 1));
      const values = offered.filter((value) => value.startsWith(argument.value)).map((value) => value + suffix);
      return { completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 } };
    },
  };
}

function again(inputRequests, requestState) {
  return { resultType: 'input_required', inputRequests, ...(requestState && { requestState }) };
}

async function log(cx) {
  for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) await cx.log('info', message);
  return content(text('logged'));
}
