import { Injectable } from '@nestjs/common';
import type { Actor } from '../../../kernel/audit-log.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import type { ApiKey, KeyGrant } from '../domain/api-key.js';
import { ApiKeys } from '../domain/api-keys.js';
import { hashOf, keyText, newSecret } from './key-text.js';

export interface WithKeyText {
  readonly key: ApiKey;
  /** The key itself, to be shown now and never again. */
  readonly text: string;
}

@Injectable()
export class CreateKey {
  constructor(
    private readonly keys: ApiKeys,
    private readonly ids: IdGenerator,
  ) {}

  async execute(grant: KeyGrant, by: Actor): Promise<WithKeyText> {
    const [id, secret] = [this.ids.next(), newSecret()];
    const key = await this.keys.add({ ...grant, id, hash: hashOf(secret) }, by);
    return { key, text: keyText({ id, secret }) };
  }
}
