import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { type EventDocument, eventDocument } from '../../src/modules/events/index.js';

type Operation = {
  readonly post: { readonly requestBody: { readonly content: { readonly 'application/json': Media } } };
};
interface Media {
  readonly schema: { readonly $ref: string };
  readonly examples: Readonly<Record<string, { readonly value: JsonObject }>>;
}

/** What the OpenAPI document says about the bodies of events. */
export class EventBodyRules {
  private readonly ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateFormats: false });

  constructor(private readonly document: EventDocument = eventDocument()) {
    // So that references to the schemas of the document are found.
    this.ajv.addKeyword('components');
  }

  get types(): readonly string[] {
    return Object.keys(this.document.webhooks);
  }

  /** @returns what a body breaks; empty when it is as documented */
  broken(body: unknown): readonly string[] {
    const type = (body as { type?: unknown }).type;
    if (typeof type !== 'string' || !this.types.includes(type)) return [`unknown type ${String(type)}`];
    const validate = this.ajv.compile({ ...this.schemaOf(type), components: { schemas: this.document.schemas } });
    return validate(body)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  examplesOf(type: string): readonly JsonObject[] {
    return Object.values(this.mediaOf(type).examples).map(({ value }) => value);
  }

  schemaOf(type: string): JsonObject {
    const name = this.mediaOf(type).schema.$ref.slice('#/components/schemas/'.length);
    return this.document.schemas[name] ?? {};
  }

  private mediaOf(type: string): Media {
    return (this.document.webhooks[type] as unknown as Operation).post.requestBody.content['application/json'];
  }
}
