import { registerHooks } from 'node:module'

/**
 * The daemon of the tests with the package that runs models. An operator installs it beside the node. These tests
 * resolve it from this package.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'node-llama-cpp' ? { ...context, parentURL: import.meta.url } : context),
})
await import('../../support/daemon-entry.ts')
