import { registerHooks } from 'node:module'

/** The daemon of the tests with the package that runs models: an operator has it beside the node, these tests have it here. */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'node-llama-cpp' ? { ...context, parentURL: import.meta.url } : context),
})
await import('../../support/daemon-entry.ts')
