// TypeScript 7 has no API in JavaScript, which openapi-typescript needs: this gives it TypeScript 6’s.
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript'
      ? { url: import.meta.resolve('./typescript-6.ts'), shortCircuit: true }
      : next(specifier, context),
})
