import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Piece, piecesOf } from './statements.js';

/** Which tests must turn red: the part of a path that Jest is given, in one of its projects. */
export interface Catcher {
  readonly project: 'int';
  readonly path: string;
}

/** One small mistake in one piece of the source, as a person could make it. */
export interface Fault {
  readonly id: string;
  /** The name that PostgreSQL knows the statement by, or that of a constant, function or method. No file: the piece is found where it is. */
  readonly in: string;
  /** Occurs exactly once in the pieces of that name, whatever white space is in it. */
  readonly text: string;
  readonly becomes: string;
  /** What goes wrong with it. */
  readonly why: string;
  readonly caughtBy: Catcher;
}

type FaultWithUsual = Omit<Fault, 'caughtBy'> & { readonly caughtBy?: Catcher };

/** `usual` catches those that name nobody else. */
export function faults(usual: Catcher, list: readonly FaultWithUsual[]): Fault[] {
  return list.map((fault) => ({ caughtBy: usual, ...fault }));
}

export const int = (path: string): Catcher => ({ project: 'int', path });

/** Where a fault goes. */
export interface FaultPlace {
  /** Below `src`. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Every source file, and the places of faults in them. */
export class FaultySources {
  private readonly sources: ReadonlyMap<string, string>;
  /** Of the files that were looked into: many faults are in one. */
  private readonly pieces = new Map<string, readonly Piece[]>();

  /** @param folder that of `src` */
  constructor(folder: string) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    this.sources = new Map(files.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')]));
  }

  /** @throws when the text of the fault is not there, or is there more than once: the source has changed, and the list must follow */
  placeOf({ id, in: name, text }: Fault): FaultPlace {
    const places = new Map<string, FaultPlace>();
    for (const [file, source] of this.sources) {
      if (!source.includes(name)) continue;
      for (const place of findIn(file, source, this.piecesIn(file, source), name, text))
        places.set(`${file} ${place.start}`, place);
    }
    const [place, ...more] = places.values();
    if (place === undefined || more.length > 0)
      throw new Error(`${id}: its text occurs ${places.size} times in ${name}, not once`);
    return place;
  }

  /** The source of the file that the fault is in, with the fault. */
  withFault(fault: Fault): { readonly file: string; readonly source: string } {
    const { file, start, end } = this.placeOf(fault);
    const source = this.sourceOf(file);
    return { file, source: source.slice(0, start) + fault.becomes + source.slice(end) };
  }

  sourceOf(file: string): string {
    return this.sources.get(file) ?? '';
  }

  private piecesIn(file: string, source: string): readonly Piece[] {
    const pieces = this.pieces.get(file) ?? piecesOf(file, source);
    this.pieces.set(file, pieces);
    return pieces;
  }
}

function* findIn(
  file: string,
  source: string,
  pieces: readonly Piece[],
  name: string,
  text: string,
): Generator<FaultPlace> {
  const pattern = text
    .split(/\s+/)
    .map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
    .join('\\s+');
  for (const piece of pieces) {
    if (piece.name !== name) continue;
    for (const { index, 0: found } of source.slice(piece.start, piece.end).matchAll(new RegExp(pattern, 'g')))
      yield { file, start: piece.start + index, end: piece.start + index + found.length };
  }
}
