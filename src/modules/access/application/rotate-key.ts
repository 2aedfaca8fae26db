import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import { Conflict, NotFound } from '../../../kernel/errors.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import { assertMayGive, managerOf } from '../domain/api-key.js';
import { ApiKeys } from '../domain/api-keys.js';
import type { WithKeyText } from './create-key.js';
import { hashOf, keyText, newSecret } from './key-text.js';

export interface Rotation {
  /** So long the old key can still be used. */
  readonly overlapMs: number;
  /** Of the new key; undefined for the end that the old one has had. */
  readonly expiresAt: Date | undefined;
}

/** Makes a key that may do what another one may, and lets that one end. */
@Injectable()
export class RotateKey {
  constructor(
    private readonly keys: ApiKeys,
    private readonly ids: IdGenerator,
  ) {}

  /** @throws NotFound `key_not_found`; Conflict `key_ended`; Forbidden as `assertMayGive` */
  async execute(id: string, { overlapMs, expiresAt }: Rotation, caller: Caller): Promise<WithKeyText> {
    const old = await this.keys.find(id, managerOf(caller));
    if (old === null) throw unknownKey(id);
    assertMayGive(caller, { ...old, expiresAt: expiresAt ?? old.expiresAt });
    const [freshId, secret] = [this.ids.next(), newSecret()];
    const fresh = { id: freshId, hash: hashOf(secret), expiresAt };
    const key = await this.keys.rotate(id, fresh, overlapMs, caller);
    if (key === null) throw new Conflict('key_ended', `key ${id} is revoked or has expired`, 'create another key');
    return { key, text: keyText({ id: freshId, secret }) };
  }
}

export function unknownKey(id: string): NotFound {
  return new NotFound('key_not_found', `no key ${id}`, 'GET /api/v1/keys lists the keys');
}
