import { ServiceUnavailableException } from '@nestjs/common';
import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { domainProblem } from './platform/http/domain-problem.js';
import {
  frameworkProblems,
  httpErrorProblem,
  INTERNAL_PROBLEM,
  methodNotAllowed,
} from './platform/http/http-error-problem.js';
import { InvalidRequest } from './platform/http/invalid-request.js';
import { ProblemDto } from './platform/http/problem.dto.js';
import { type Problem, problemDetails } from './platform/http/problem-details.js';
import { type Demand, DEMANDS, NOTHING } from './platform/http/scope.js';
import { STARTING } from './platform/http/waiting-room.js';
import { NEVER_REFUSED } from './platform/limits/limit-guard.js';
import { THROWN, THROWN_BY } from './thrown-problems.js';

interface Operation {
  readonly [DEMANDS]?: Demand;
  readonly operationId?: string;
  readonly parameters?: readonly { readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: object;
}

const REQUEST = { method: 'POST', is404: false, routeOptions: { bodyLimit: 1_048_576 } };
const NOT_READY = new ServiceUnavailableException({ status: 'error', details: { database: { status: 'down' } } });
const MISTAKES = [
  {
    path: 'payload.value',
    code: 'invalid_quantity',
    message: 'payload.value must be a whole number from 0 to 2^256-1',
  },
  { path: 'payload.vlaue', code: 'unknown_field', message: 'payload.vlaue is not a known field' },
];

/** Every problem that a client can get, by `code_status`: as the code writes it that throws, or as the code makes it that answers. */
const PROBLEMS: ReadonlyMap<string, Problem> = new Map([
  ...Object.entries<Problem>(THROWN),
  ...[
    INTERNAL_PROBLEM,
    STARTING,
    methodNotAllowed(REQUEST, ['GET', 'HEAD']),
    ...frameworkProblems(REQUEST),
    ...MISTAKES.map((mistake) => domainProblem(new InvalidRequest([mistake]))),
    httpErrorProblem(NOT_READY, REQUEST) ?? INTERNAL_PROBLEM,
  ].map((problem) => [`${problem.code}_${problem.status}`, problem] as const),
]);

const EXAMPLES = '#/components/examples/';
const HEADERS = {
  'X-Request-Id': {
    description: 'Of the request, where it has one of at most 100 letters, digits and `._:-`; otherwise a new one',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,100}$' },
  },
  'WWW-Authenticate': { required: true, schema: { type: 'string', const: 'Bearer' } },
  Allow: {
    description: 'The methods that the path takes',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
  },
  'Retry-After': {
    description: 'Seconds until the request may be sent again',
    schema: { type: 'integer', minimum: 0 },
  },
  // draft-ietf-httpapi-ratelimit-headers, with the structured fields of RFC 9651.
  'RateLimit-Policy': {
    description:
      'Only for an account with a limit: how much it may send (`q`) in how many seconds (`w`), at all nodes together. A 429 `rate_limited` ' +
      'whose `facts.limit` is `signer_txs` also tells the quota of the signer',
    schema: { type: 'string' },
    example: '"requests";q=500;w=5, "bytes";q=5242880;w=5;qu="content-bytes"',
  },
  RateLimit: {
    description:
      'Only for an account with a limit: what is left (`r`) of the share of this node, and the seconds until all of it is there again (`t`)',
    schema: { type: 'string' },
    example: '"requests";r=499;t=1, "bytes";r=5242000;t=1',
  },
};
const OF_BODIES = ['malformed_json_400', 'too_many_values_400', 'body_too_large_413', 'unsupported_media_type_415'];
const OF_INPUT = ['invalid_request_400', 'unknown_field_400', 'nested_too_deeply_400'];

const RATE_LIMITED = 'rate_limited_429';
/** When it was known who called, whatever the answer is. */
const LIMITED_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;

function isLimited({ [DEMANDS]: demand = NOTHING }: Operation): boolean {
  return demand !== NOTHING && demand !== NEVER_REFUSED;
}

/** What is answered before an operation is called, by its path, its parameters and its body: the one place for what many operations share. */
function sharedProblems(path: string, method: string, operation: Operation): readonly string[] {
  const { parameters = [], requestBody } = operation;
  const guards = (THROWN_BY['guards'] ?? []).filter((name) => isLimited(operation) || name !== RATE_LIMITED);
  const has = (place: string): boolean => parameters.some((parameter) => parameter.in === place);
  return [
    ...['internal_error_500', 'starting_503', 'shutting_down_503'],
    // Of a node whose version has the operation with another method.
    'method_not_allowed_405',
    ...(path.startsWith('/api/') ? guards : []),
    ...(path === '/health/ready' ? ['service_unavailable_503'] : []),
    ...(has('path') ? ['malformed_url_400', 'url_too_long_414', 'invalid_request_400'] : []),
    ...(has('query') ? [...OF_INPUT, 'too_many_parameters_400', 'url_too_long_414'] : []),
    ...(requestBody === undefined ? [] : OF_INPUT),
    ...(method === 'get' ? [] : OF_BODIES),
  ];
}

/** Adds to each operation the problems that it throws, those that its path, parameters and body bring along, and the headers of its answers. */
export function withProblems(document: OpenAPIObject): OpenAPIObject {
  const examples = new Map<string, object>();
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations as Record<string, Operation>).map(([method, operation]) => {
        const own = THROWN_BY[operation.operationId ?? ''] ?? [];
        const names = new Set([...own, ...sharedProblems(path, method, operation)]);
        const common = headers('X-Request-Id', ...(isLimited(operation) ? LIMITED_HEADERS : []));
        const answers = Object.entries<object & { readonly headers?: object }>({
          ...operation.responses,
          ...answersOf(names, examples),
        });
        const responses = Object.fromEntries(
          answers.map(([status, answer]) => [status, { ...answer, headers: { ...common, ...answer.headers } }]),
        );
        return [method, { ...operation, responses }];
      }),
    ),
  ]);
  return {
    ...document,
    components: { ...document.components, headers: HEADERS, examples: Object.fromEntries([...examples].sort(byName)) },
    paths: Object.fromEntries(paths) as OpenAPIObject['paths'],
  };
}

/** An answer for each status. Adds the example of each problem to `examples`. */
function answersOf(names: ReadonlySet<string>, examples: Map<string, object>): Record<string, object> {
  const byStatus = new Map<number, Problem[]>();
  for (const name of [...names].sort()) {
    const problem = PROBLEMS.get(name);
    if (problem === undefined) throw new Error(`no code makes the problem ${name}`);
    byStatus.set(problem.status, [...(byStatus.get(problem.status) ?? []), problem]);
    examples.set(name, { summary: problem.detail, value: problemDetails(problem, '/api/v1/tx') });
  }
  return Object.fromEntries([...byStatus].map(([status, problems]) => [status, answerOf(status, problems)]));
}

function answerOf(status: number, problems: readonly Problem[]): object {
  const codes = problems.map(({ code }) => code);
  const schema = {
    allOf: [{ $ref: getSchemaPath(ProblemDto) }],
    properties: { status: { type: 'integer', const: status }, code: { type: 'string', enum: codes } },
  };
  const examples = codes.map((code) => [code, { $ref: `${EXAMPLES}${code}_${status}` }] as const);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    ...headersOf(status, problems),
    content: { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } },
  };
}

function headersOf(status: number, problems: readonly Problem[]): object {
  if (status === 401) return { headers: headers('WWW-Authenticate') };
  if (status === 405) return { headers: headers('Allow') };
  return problems.some(({ retryable = false }) => retryable) ? { headers: headers('Retry-After') } : {};
}

function headers(...names: readonly (keyof typeof HEADERS)[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function byName([a]: readonly [string, object], [b]: readonly [string, object]): number {
  return a < b ? -1 : 1;
}
