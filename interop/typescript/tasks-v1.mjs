// Follows tasks of 2025-11-25 with @modelcontextprotocol/sdk, on the fixture for tasks.
//
// Usage: tasks-v1.mjs 2025-11-25 COMMAND [ARGUMENT...], or 2025-11-25 URL
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { fill, refused, report, within } from './driver.mjs';

const [, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'typescript-interop-v1', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
let asked = 0;
client.setRequestHandler(types.ElicitRequestSchema, async ({ params }) => {
  asked += 1;
  return { action: 'accept', content: fill(params.requestedSchema) };
});
const { tasks } = client.experimental;
const begin = (name, parameters) =>
  tasks.callToolStream({ name, arguments: parameters }, types.CallToolResultSchema, { task: { ttl: 60_000 } });

// The states of a task one after the other, with its result or error at the end.
async function follow(stream) {
  const states = [];
  for await (const { type, task, result, error } of stream) {
    if (type === 'result' || type === 'error') return { states, result, error };
    states.push(task.status);
  }
  return assert.fail('neither a result nor an error');
}

const FEATURES = {
  async tasks() {
    const { requests, cancel } = client.getServerCapabilities().tasks;
    assert(requests.tools.call && cancel);
    const { tools } = await client.listTools();
    const support = (name) => tools.find((tool) => tool.name === name).execution?.taskSupport;
    assert.deepEqual([support('job'), support('job_only'), support('echo')], ['optional', 'required', undefined]);
    const { states, result } = await follow(begin('job', { steps: 4, ms: 50 }));
    assert.deepEqual([states[0], states.at(-1)], ['working', 'completed']);
    assert.equal(result.content[0].text, 'done 4');
    // The SDK makes a task of each call of a tool that requires one.
    const only = tasks.callToolStream({ name: 'job_only', arguments: { steps: 1, ms: 1 } });
    assert.equal((await follow(only)).result.content[0].text, 'done 1');
  },
  async 'task-input'() {
    const { states, result } = await follow(begin('job', { steps: 2, ms: 20, ask: 2 }));
    assert(states.includes('input_required'), states);
    assert.equal(asked, 2);
    assert.equal(result.content[0].text, 'done 2 ada,ada');
  },
  async 'task-errors'() {
    for (const fail of ['tool', 'protocol']) {
      const { states, error } = await follow(begin('job', { steps: 2, ms: 20, fail }));
      assert(error && states.at(-1) === 'failed', states);
    }
    await refused(tasks.getTask('no such task'), -32602);
    await refused(tasks.cancelTask('no such task'), -32602);
  },
  async 'task-cancel'() {
    const stream = begin('job', { steps: 1_000, ms: 100 });
    const { taskId } = (await stream.next()).value.task;
    assert.equal((await tasks.cancelTask(taskId)).status, 'cancelled');
    const { states, error } = await follow(stream);
    assert(error && states.at(-1) === 'cancelled', states);
    // What has ended cannot be cancelled.
    await refused(tasks.cancelTask(taskId), -32602);
  },
};

await client.connect(command.startsWith('http') ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args }));
for (const [feature, drive] of Object.entries(FEATURES)) {
  try {
    await within(30_000, drive());
    report(feature, { ok: true });
  } catch (error) {
    report(feature, { ok: false, detail: String(error?.stack ?? error).split('\n').slice(0, 8).join(' | ') });
  }
}
const began = performance.now();
await client.close();
const took = performance.now() - began;
report('close', { ok: took < 1_500, detail: `${(took / 1_000).toFixed(1)} s` });
