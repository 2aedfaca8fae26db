import { readdirSync, readFileSync } from 'node:fs';

/*
 * All rules of typescript-eslint's strictTypeChecked and stylisticTypeChecked, and ours. Rules that need types, and the types themselves
 * (--type-check), are checked by tsgolint, which is built on the compiler of TypeScript 7: in a sixth of the processor time of eslint and tsc.
 */

const ESLINT = `
  eqeqeq no-array-constructor no-console no-empty-function no-unused-expressions no-unused-vars no-useless-constructor no-var prefer-const
  prefer-rest-params prefer-spread
`;

const TYPESCRIPT = `
  adjacent-overload-signatures array-type await-thenable ban-ts-comment ban-tslint-comment class-literal-property-style
  consistent-generic-constructors consistent-indexed-object-style consistent-type-assertions consistent-type-imports
  explicit-module-boundary-types no-array-delete no-base-to-string no-confusing-non-null-assertion no-confusing-void-expression
  no-deprecated no-duplicate-enum-values no-duplicate-type-constituents no-dynamic-delete no-empty-object-type no-explicit-any
  no-extra-non-null-assertion no-extraneous-class no-floating-promises no-for-in-array no-generated-empty-object-type no-implied-eval
  no-inferrable-types no-invalid-void-type no-misused-new no-misused-promises no-misused-spread no-mixed-enums no-namespace
  no-non-null-asserted-nullish-coalescing no-non-null-asserted-optional-chain no-non-null-assertion no-redundant-type-constituents
  no-require-imports no-this-alias no-unnecessary-boolean-literal-compare no-unnecessary-condition no-unnecessary-template-expression
  no-unnecessary-type-arguments no-unnecessary-type-assertion no-unnecessary-type-constraint no-unnecessary-type-conversion
  no-unnecessary-type-parameters no-unsafe-argument no-unsafe-assignment no-unsafe-call no-unsafe-declaration-merging
  no-unsafe-enum-comparison no-unsafe-function-type no-unsafe-member-access no-unsafe-return no-unsafe-unary-minus
  no-useless-default-assignment no-wrapper-object-types non-nullable-type-assertion-style only-throw-error prefer-as-const prefer-find
  prefer-for-of prefer-function-type prefer-includes prefer-literal-enum-member prefer-namespace-keyword prefer-nullish-coalescing
  prefer-optional-chain prefer-promise-reject-errors prefer-reduce-type-parameter prefer-regexp-exec prefer-return-this-type
  prefer-string-starts-ends-with related-getter-setter-pairs restrict-plus-operands restrict-template-expressions return-await
  switch-exhaustiveness-check triple-slash-reference unbound-method unified-signatures use-unknown-in-catch-callback-variable
`;

export default {
  plugins: ['typescript'],
  // Only what is named here.
  categories: { correctness: 'off' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error', maxWarnings: 0 },
  ignorePatterns: ['dist/', 'coverage/', '.lockstep/', '.stryker/', 'test/clients/', '**/*.mjs', '**/*.cjs'],
  rules: {
    ...errors('eslint', ESLINT),
    // `== null` asks for null and undefined at once.
    'eslint/eqeqeq': ['error', 'always', { null: 'ignore' }],
    'eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    ...errors('typescript', TYPESCRIPT),
    'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
    'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    // A NestJS module is a class whose decorator is its content.
    'typescript/no-extraneous-class': ['error', { allowWithDecorator: true }],
    'typescript/restrict-plus-operands': [
      'error',
      { allowAny: false, allowBoolean: false, allowNullish: false, allowNumberAndString: false, allowRegExp: false },
    ],
    // Numbers and bigints read the same in a template as in String(…).
    'typescript/restrict-template-expressions': ['error', { allowNumber: true }],
    // `a || b` is meant where an empty text counts as absent (environment variables, mostly).
    'typescript/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
    // `() => stop()` is how a callback is written here.
    'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
  },
  overrides: [
    {
      // The metadata of a decorator needs the class of a parameter at run time, which the rule does not know.
      files: filesWithDecorators('src', 'test'),
      rules: { 'typescript/consistent-type-imports': 'off' },
    },
    {
      files: ['src/modules/*/infrastructure/http/**'],
      rules: {
        'eslint/no-restricted-imports': [
          'error',
          {
            patterns: [
              {
                group: ['**/kernel/hex.js'],
                importNames: ['parseAddress'],
                message: 'An address of a client is read by clientAddress (platform/http), which checks its checksum.',
              },
            ],
          },
        ],
      },
    },
    {
      files: ['test/**/*.ts'],
      rules: {
        // expect(fake.method) hands a method to Jest, which never calls it without its object.
        'typescript/unbound-method': 'off',
        'typescript/no-misused-spread': 'off',
        // JSON from HTTP and Jest's own matchers (expect.any, expect.objectContaining) are `any`; writing `any` stays forbidden.
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/explicit-module-boundary-types': 'off',
        'eslint/no-empty-function': 'off',
      },
    },
  ],
};

function errors(plugin, names) {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [`${plugin}/${name}`, 'error']),
  );
}

function filesWithDecorators(...folders) {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
    )
    .filter((file) => file.endsWith('.ts') && /^\s*@\w/m.test(readFileSync(file, 'utf8')));
}
