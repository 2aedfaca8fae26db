import type { OpenAPIObject } from '@nestjs/swagger';
import { DEMANDS, type Demand, NOTHING } from './platform/http/scope.js';

interface Operation {
  readonly [DEMANDS]?: Demand;
  readonly description?: string;
}

const SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'a key (ls_…), or a JWT',
    description:
      'A key that `lockstep keys create` or `POST /api/v1/keys` made. With `auth.mode: jwt`, a token (JWT) of the issuer in the config instead: its claim ' +
      '`scope` has the scopes, and it ends at its `exp`',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The same key or token, where Authorization is taken',
  },
} as const;

/** Says in the document what each operation demands of its callers. @throws for an operation that declares nothing */
export function withSecurity(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations as Record<string, Operation>).map(([method, operation]) => [
        method,
        secured(`${method} ${path}`, operation),
      ]),
    ),
  ]);
  return {
    ...document,
    components: { ...document.components, securitySchemes: SCHEMES },
    paths: Object.fromEntries(paths) as OpenAPIObject['paths'],
  };
}

function secured(name: string, { [DEMANDS]: demand, ...operation }: Operation): object {
  if (demand === undefined) throw new TypeError(`${name} does not say what it demands of its callers`);
  if (demand === NOTHING) return { ...operation, security: [] };
  const { description = '' } = operation;
  return {
    ...operation,
    description: `${description} Scope: \`${demand}\`.`.trimStart(),
    security: Object.keys(SCHEMES).map((scheme) => ({ [scheme]: [] })),
  };
}
