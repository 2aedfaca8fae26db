import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', '.lockstep/', '.stryker/', 'node_modules/', 'test/clients/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // What another file may use says what it returns: a change of type is then a visible change.
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // A NestJS module is a class whose decorator is its content.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Numbers and bigints read the same in a template as in String(…).
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `a || b` is meant where an empty text counts as absent (environment variables, mostly).
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // Two writings of the same type; which one reads better depends on the place.
      '@typescript-eslint/consistent-type-definitions': 'off',
      // process.env['NAME'] shows that the name is not one of ours.
      '@typescript-eslint/dot-notation': 'off',
      // `() => stop()` is how a callback is written here.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // `() => void start()` says that nobody waits, also where the type is void already.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // An adapter may answer at once; its port still returns a promise, and throws inside it.
      '@typescript-eslint/require-await': 'off',
      // Options of frameworks and rows of lists are classes by name and plain objects by use.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // There are no enums of ours, so nothing is assigned to one; the rule asks for the types of everything to find that out.
      'no-restricted-syntax': ['error', { selector: 'TSEnumDeclaration', message: 'Use a union of literals.' }],
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // `== null` asks for null and undefined at once.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/modules/*/infrastructure/http/**'],
    rules: {
      'no-restricted-imports': [
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
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // JSON from HTTP and Jest's own matchers (expect.any, expect.objectContaining) are `any`; writing `any` stays forbidden.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
  prettier,
);
