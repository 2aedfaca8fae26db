/** An open database transaction. Opaque: only the database adapter can use its content. */
export abstract class Tx {
  abstract readonly open: boolean;
}

/** Runs work in one transaction: committed when `work` resolves, rolled back when it throws. */
export abstract class UnitOfWork {
  abstract run<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}
