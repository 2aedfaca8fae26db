import { v7 } from 'uuid';
import { IdGenerator } from '../../kernel/id-generator.js';

export class UuidV7 extends IdGenerator {
  next(): string {
    return v7();
  }
}
