import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ALLOWED } from './allowed.js';
import { type ApiDocument, breakingChanges } from './breaking-changes.js';

const FILE = 'docs/openapi.json';
const now = JSON.parse(readFileSync(FILE, 'utf8')) as ApiDocument;

const git = (...args: readonly string[]): string => execFileSync('git', args, { maxBuffer: 64 * 2 ** 20 }).toString();

/** The document with which this version began; null when no commit has it. */
function documentBefore(): ApiDocument | null {
  const commit = git('log', '-1', '--format=%H', `-S"version": "${now.info.version}"`, '--', FILE).trim();
  return commit === '' ? null : (JSON.parse(git('show', `${commit}:${FILE}`)) as ApiDocument);
}

describe('changes of the API', () => {
  it('none breaks clients of this version but those that are allowed, and each of these is made', () => {
    const before = documentBefore();
    const found = before === null ? [] : breakingChanges(before, now);
    expect(found.sort()).toEqual(ALLOWED.map(({ change }) => change).sort());
  });

  it('names a field that is missing in an answer of the real document', () => {
    const text = JSON.stringify(now, (key, value: { properties: { nonce?: object } }) => {
      if (key !== 'TxDto') return value;
      const { nonce: _nonce, ...properties } = value.properties;
      return { ...value, properties };
    });
    const found = breakingChanges(now, JSON.parse(text) as ApiDocument);
    expect(found).toContainEqual(
      expect.stringMatching(/^GET \/api\/v1\/tx\/\{txId\}: removed the \w+ property `nonce`/),
    );
  });

  const STATE = { type: 'string', enum: ['waits', 'sent'] };
  const WITH_STATE = { type: 'object', properties: { id: { type: 'string' }, state: STATE } };
  const WITHOUT_STATE = { type: 'object', properties: { id: { type: 'string' } } };
  const TIME = { type: 'string', format: 'date-time' };
  const WITH_TIME = { type: 'object', properties: { ...WITH_STATE.properties, at: TIME }, required: ['at'] };
  const PROBLEM = { type: 'object', properties: { code: { type: 'string' } } };

  function planted({
    asked = {},
    answer = WITH_STATE as object,
    event = WITH_STATE as object,
    codes = ['a'],
  }): ApiDocument {
    const json = (schema: object, type = 'application/json') => ({
      description: 'any',
      content: { [type]: { schema } },
    });
    const request = { properties: { speed: { type: 'string', enum: ['slow', 'fast'] }, ...asked } };
    const problem = { allOf: [PROBLEM], properties: { code: { type: 'string', enum: codes } } };
    const responses = { 200: json(answer), 404: json(problem, 'application/problem+json') };
    const required = Object.keys(asked).filter((name) => name === 'must');
    const post = { requestBody: json({ type: 'object', ...request, required }), responses };
    const document = { openapi: '3.1.0', info: { title: 'planted', version: '1' }, paths: { '/tx': { post } } };
    return { ...document, webhooks: { changed: { post: { requestBody: json(event) } } } };
  }

  /** What posts and filters events of these types. */
  function withEvents(...more: readonly string[]): ApiDocument {
    const types = ['tx.accepted', 'tx.submitted', ...more];
    const pattern = `^(${types.map((type) => type.replace('.', '\\.')).join('|')})$`;
    const filter = { name: 'types', in: 'query', schema: { type: 'string', pattern } };
    const listed = { type: 'object', properties: { type: { type: 'string', enum: types } } };
    const content = { 'application/json': { schema: listed } };
    const get = { parameters: [filter], responses: { 200: { description: 'any', content } } };
    const webhooks = types.map((type) => [type, { post: { requestBody: { description: type, content } } }]);
    return { ...planted({}), paths: { '/events': { get } }, webhooks: Object.fromEntries(webhooks) as never };
  }

  const BEFORE_NAMES = planted({
    answer: { type: 'object', properties: { always: WITH_STATE, seldom: { ...WITH_STATE, type: ['object', 'null'] } } },
  });

  /** The same answers, whose objects have a name. */
  function withNames(state: object): ApiDocument {
    const reference = { $ref: '#/components/schemas/State' };
    const properties = {
      always: { description: 'now', allOf: [reference] },
      seldom: { description: 'now', anyOf: [reference, { type: 'null' }] },
    };
    return { ...planted({ answer: { type: 'object', properties } }), components: { schemas: { State: state } } };
  }

  it('names a field that is missing in an object that got a name', () => {
    expect(breakingChanges(BEFORE_NAMES, withNames(WITHOUT_STATE))).toEqual([
      expect.stringContaining('removed the optional property `always/state`'),
      expect.stringContaining('removed the optional property `seldom/state`'),
    ]);
  });

  it('names a type of event that is missing', () => {
    expect(breakingChanges(withEvents('nonce.held'), withEvents())).toEqual([
      expect.stringContaining('GET /webhook/nonce.held: API path removed'),
    ]);
  });

  it.each([
    ['an operation that is missing', { ...planted({}), paths: {} }, 'POST /tx: API path removed'],
    [
      'a field that is missing in an answer',
      planted({ answer: WITHOUT_STATE }),
      'POST /tx: removed the optional property `state`',
    ],
    [
      'a field that is missing in an event',
      planted({ event: WITHOUT_STATE }),
      'GET /webhook/changed: removed the optional property `state`',
    ],
    [
      'a field of another type',
      planted({ answer: { ...WITH_STATE, properties: { id: { type: 'integer' }, state: STATE } } }),
      'POST /tx: the `id` response',
    ],
    [
      'a new field that a request must have',
      planted({ asked: { must: TIME } }),
      'POST /tx: added the new required request property `must`',
    ],
    [
      'a value that a request may not have any more',
      planted({ asked: { speed: { type: 'string', enum: ['slow'] } } }),
      'POST /tx: removed the enum value `fast` of the request property `speed`',
    ],
  ])('names %s', (_what, after, change) => {
    expect(breakingChanges(planted({}), after)).toEqual([expect.stringContaining(change)]);
  });

  it.each<[string, ApiDocument, ApiDocument?]>([
    ['a new field that a request may have', planted({ asked: { at: TIME } })],
    ['a new field of an answer', planted({ answer: WITH_TIME })],
    ['a new field of an event', planted({ event: WITH_TIME })],
    ['a new type of event', withEvents('nonce.held'), withEvents()],
    ['a new problem', planted({ codes: ['a', 'b'] })],
    ['an object that got a name', withNames(WITH_STATE), BEFORE_NAMES],
  ])('says nothing of %s', (_what, after, before = planted({})) => {
    expect(breakingChanges(before, after)).toEqual([]);
  });
});
