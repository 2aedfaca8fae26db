import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Header {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
}
interface Answer {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Answer>>;
}
export interface OpenApi {
  readonly components: { readonly headers: Readonly<Record<string, Header>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
export interface DocumentedAnswer {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly body: unknown;
}

const DOCUMENT = 'openapi';
const FORMATS = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
};
/** Of HTTP itself, of what caches and proxies may do, and of what browsers may do: they are the same for every operation. */
const OF_ALL =
  /^(date|connection|keep-alive|content-(type|length|security-policy)|transfer-encoding|vary|cache-control|(cross-origin|referrer|origin|strict)-.*|x-(content-type|dns|download|frame|permitted|xss|accel)-.*)$/;
const NO_ROUTE = new Set(['method_not_allowed', 'malformed_url', 'url_too_long', 'route_not_found']);

/** Compares answers with the OpenAPI document of the service: status, headers, content type and schema. */
export class ApiDocument {
  private readonly ajv = new Ajv2020({ strict: false, formats: FORMATS });
  private readonly paths: readonly { readonly pattern: RegExp; readonly path: string }[];
  private readonly checks = new Map<string, ValidateFunction>();

  constructor(private readonly document: OpenApi) {
    this.ajv.addSchema(document, DOCUMENT);
    // A literal segment wins over a parameter.
    const paths = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length);
    this.paths = paths.map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`) }));
  }

  /** What the document does not say of this answer; null when it says all. */
  wrongWith(method: string, url: string, { status, type, headers, body }: DocumentedAnswer): string | null {
    const at = url.split('?', 1)[0] ?? '';
    const name = method.toLowerCase();
    const found = this.paths.find(({ path, pattern }) => pattern.test(at) && this.document.paths[path]?.[name]);
    const where = `${method} ${at}: ${status}`;
    if (found === undefined) return isNoRoute(at, body) ? null : `${where} of a path that is not documented`;
    const { responses } = this.document.paths[found.path]?.[name] ?? { responses: {} };
    const answer = responses[status];
    if (answer === undefined) return `${where} is not documented: ${JSON.stringify(body)}`;
    const wrong = this.wrongHeader(answer, headers);
    if (wrong !== null) return `${where}: ${wrong}`;
    const media = type.split(';', 1)[0] ?? '';
    if (answer.content === undefined) return media === '' ? null : `${where} has a body`;
    if (!(media in answer.content)) return `${where} of type ${type} is not documented`;
    if (!media.endsWith('json')) return null;
    const check = this.checkOf(['paths', found.path, name, 'responses', String(status), 'content', media, 'schema']);
    return check(body) ? null : `${where}: ${this.ajv.errorsText(check.errors)}: ${JSON.stringify(body)}`;
  }

  private wrongHeader({ headers: documented = {} }: Answer, headers: Headers): string | null {
    const names = new Map(Object.keys(documented).map((name) => [name.toLowerCase(), name]));
    for (const name of headers.keys())
      if (!names.has(name) && !OF_ALL.test(name)) return `the header ${name} is not documented`;
    for (const name of names.values()) {
      const [text, { required = false, schema }] = [headers.get(name), this.headerOf(name)];
      if (text === null && required) return `the header ${name} is missing`;
      if (text === null) continue;
      const check = this.checkOf(['components', 'headers', name, 'schema']);
      if (!check(schema.type === 'integer' ? Number(text) : text)) return `the header ${name} is ${text}`;
    }
    return null;
  }

  private headerOf(name: string): Header {
    const header = this.document.components.headers[name];
    if (header === undefined) throw new Error(`the document does not define the header ${name}`);
    return header;
  }

  private checkOf(pointer: readonly string[]): ValidateFunction {
    const place = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const check = this.checks.get(place) ?? this.ajv.compile({ $ref: `${DOCUMENT}#/${place}` });
    this.checks.set(place, check);
    return check;
  }
}

function isNoRoute(path: string, body: unknown): boolean {
  if (path.startsWith('/docs')) return true;
  return typeof body === 'object' && body !== null && 'code' in body && NO_ROUTE.has(String(body.code));
}
