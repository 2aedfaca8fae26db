/** Makes ids that sort by time of creation (UUIDv7, RFC 9562), so that new rows go to the end of every index. */
export abstract class IdGenerator {
  abstract next(): string;
}
