/** Of the first message of a connection, which has no type byte. */
const STARTUP_HEADER = 4;
const HEADER = 5;
/** Execute of the extended protocol, and the simple Query. */
const STATEMENTS = new Set(['E', 'Q'].map((letter) => letter.charCodeAt(0)));

/** Counts the statements that clients send to PostgreSQL, by reading the wire: also those inside a transaction. */
export class StatementCounter {
  count = 0;

  /** For one connection: the tap of a {@link TcpProxy}. */
  readonly tap = (): ((chunk: Buffer) => void) => {
    let rest = Buffer.alloc(0);
    let started = false;
    return (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const header = started ? HEADER : STARTUP_HEADER;
        if (rest.length < header) return;
        // The length counts itself, and not the type byte.
        const length = rest.readUInt32BE(header - 4) + header - 4;
        if (rest.length < length) return;
        if (started && STATEMENTS.has(rest.readUInt8(0))) this.count += 1;
        started = true;
        rest = rest.subarray(length);
      }
    };
  };
}
