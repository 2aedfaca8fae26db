import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MOST_DEPENDENCIES = 6;
/** Each tells a whole story, and runs its parts in their order. */
const ORCHESTRATORS = new Set([
  'AdoptSent',
  'AllocateNonces',
  'BroadcastAttempts',
  'BumpDue',
  'CarryOutCommands',
  'CheckReceipts',
  'FillNonceGaps',
  'Finalizer',
  'FreeNonceGaps',
  'LaneStep',
  'PreparePending',
  'ReassignNonces',
  'ReconcileLanes',
  'RecoverLane',
  'ReopenFinal',
  'ReopenNonces',
  'ResendAttempts',
  'ResumeLanes',
  'SyncSigner',
  'TendAuthorizations',
  'TendPermits',
  'WatchBalances',
]);
const MOST_OF_AN_ORCHESTRATOR = 8;

/** Paths of all files below a folder of the repository, from its root. */
function filesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
    path.posix.join(folder, ...file.split(path.sep)),
  );
}

const SOURCES = new Map(
  filesBelow('src')
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
);

const below = (folder: RegExp): string[] => [...SOURCES.keys()].filter((file) => folder.test(file));

interface UseCase {
  readonly name: string;
  /** Without the folder and the ending. */
  readonly file: string;
  readonly dependencies: number;
}

function useCasesIn(file: string): UseCase[] {
  const source = ts.createSourceFile(file, SOURCES.get(file) ?? '', ts.ScriptTarget.ES2022, true);
  return source.statements
    .filter(ts.isClassDeclaration)
    .filter(isInjectable)
    .map((declaration) => ({
      name: declaration.name?.text ?? '',
      file: path.posix.basename(file, '.ts'),
      dependencies: declaration.members.find(ts.isConstructorDeclaration)?.parameters.length ?? 0,
    }));
}

function isInjectable(declaration: ts.ClassDeclaration): boolean {
  return (ts.getDecorators(declaration) ?? []).some(({ expression }) => expression.getText().startsWith('Injectable('));
}

describe('a use-case', () => {
  const useCases = below(/^src\/modules\/[^/]+\/application\//).flatMap(useCasesIn);

  it('is found', () => {
    expect(useCases.map(({ name }) => name)).toEqual(expect.arrayContaining(['WriteChanges', 'RecordMined', 'Router']));
  });

  it('has at most six dependencies, and an orchestrator eight', () => {
    const most = ({ name }: UseCase): number => (ORCHESTRATORS.has(name) ? MOST_OF_AN_ORCHESTRATOR : MOST_DEPENDENCIES);
    const crowded = useCases.filter((useCase) => useCase.dependencies > most(useCase));
    expect(crowded.map(({ name, dependencies }) => `${name}: ${dependencies}`)).toEqual([]);
  });

  it('is an orchestrator only where it needs more than six', () => {
    const crowded = useCases.filter(({ dependencies }) => dependencies > MOST_DEPENDENCIES);
    expect(crowded.map(({ name }) => name).sort()).toEqual([...ORCHESTRATORS]);
  });

  it('has a spec that is named after its file', () => {
    const specs = new Set(filesBelow('test/unit').map((file) => path.posix.basename(file)));
    const untested = useCases.filter(({ file }) => !specs.has(`${file}.spec.ts`));
    expect(untested.map(({ name, file }) => `${name}: ${file}.spec.ts`)).toEqual([]);
  });
});

it('only the door for writing knows how a fenced transaction is opened', () => {
  const door = 'src/modules/ledger/application/writing/write-changes.ts';
  const knowing = below(/^src\/(?!modules\/signers\/)/).filter((file) =>
    SOURCES.get(file)?.includes('FencedUnitOfWork'),
  );
  expect(knowing).toEqual([door]);
});

it('no file has an enum: a union of literals says the same', () => {
  const files = ['src', 'test', 'bench'].flatMap(filesBelow).filter((file) => file.endsWith('.ts'));
  expect(files).toContain('test/unit/architecture.spec.ts');
  const withEnum = files.filter((file) =>
    /^\s*(export )?(default )?(declare )?(const )?enum \w/m.test(readFileSync(path.join(ROOT, file), 'utf8')),
  );
  expect(withEnum).toEqual([]);
});

describe('a domain file', () => {
  const importsOf = new Map<string, string[]>();

  /** What a file loads when it runs, as the build leaves it: imports of types are gone. */
  function loadedBy(file: string): string[] {
    const known = importsOf.get(file);
    if (known) return known;
    const { outputText } = ts.transpileModule(SOURCES.get(file) ?? '', {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
      },
    });
    const loaded = ts.preProcessFile(outputText).importedFiles.map(({ fileName }) => fileName);
    importsOf.set(file, loaded);
    return loaded;
  }

  /** The ways from a file to what is not ours, each as the files that lead there; every file is entered once. */
  function waysOut(file: string, entered = new Set<string>()): string[][] {
    entered.add(file);
    return loadedBy(file).flatMap((target): string[][] => {
      if (!target.startsWith('.')) return [[file, target]];
      const next = path.posix.join(path.posix.dirname(file), target.replace(/\.js$/, '.ts'));
      return entered.has(next) ? [] : waysOut(next, entered).map((way) => [file, ...way]);
    });
  }

  const domain = below(/^src\/modules\/[^/]+\/domain\//);

  it('is found, and so is what others load', () => {
    expect(domain).toContain('src/modules/ledger/domain/managed-tx.ts');
    expect(waysOut('src/modules/signers/signers.module.ts')).toContainEqual([
      'src/modules/signers/signers.module.ts',
      'src/modules/signers/application/lease-manager.ts',
      '@nestjs/common',
    ]);
  });

  it('loads no package and no Node module at run time, not through other files either', () => {
    const ways = domain.flatMap((file) => waysOut(file).slice(0, 1));
    expect(ways.map((way) => way.join(' -> '))).toEqual([]);
  });
});
