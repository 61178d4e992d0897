import { Gauge, type Registry } from 'prom-client'
import type { Checkable } from '../adapters/providers/provider.ts'

/** Adds the availability of providers to a registry. */
export function watchProviders(registry: Registry, checkable: readonly Checkable[]): void {
  new Gauge({
    name: 'farthing_provider_usable',
    help: '1 for each provider that is available now, by its purpose',
    labelNames: ['what', 'name'],
    registers: [registry],
    collect() {
      for (const { what, name, usable } of checkable.flatMap(({ facts }) => facts))
        this.set({ what, name }, usable ? 1 : 0)
    },
  })
}
