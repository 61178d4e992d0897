import { fault } from '../../consensus/primitives/fault.ts'
import { fail } from '../../consensus/primitives/result.ts'
import type { Outside } from '../../marketplace/ports/outside.ts'
import { notConfigured } from '../../marketplace/ports/readiness.ts'

const ABSENT = notConfigured('the outside')
const REFUSED = fault('provider/none', { what: 'anything', reason: 'this test has no outside' })
const absent = { readiness: () => ABSENT, ask: async () => fail(REFUSED) }

/** Everything that services use outside the chain. Parts that a test leaves out fail. */
export function outsideOf(parts: Partial<Outside> = {}): Outside {
  return {
    engines: { run: async () => fail(fault('engine/failed', { reason: 'this test has no engines' })) },
    documents: {
      readiness: () => ABSENT,
      currency: 'EUR',
      scripts: [],
      unsettable: () => [],
      render: async () => fail(fault('engine/failed', { reason: 'this test has no engines' })),
    },
    web: {
      readiness: () => ABSENT,
      check: () => fail(fault('web/refused', { reason: 'this test has no web' })),
      read: async () => fail(fault('web/refused', { reason: 'this test has no web' })),
    },
    mail: { readiness: () => ABSENT, lookUp: async () => fail(REFUSED), isDisposable: () => false },
    endpoint: {
      readiness: () => ABSENT,
      target: '',
      probe: async (path) => ({ path, status: null, latencyMs: 0, requestId: null, contentType: null, error: 'none' }),
    },
    geo: {
      readiness: () => ABSENT,
      databases: [],
      attribution: '',
      lookUp: () => {
        throw new Error('this test has no databases')
      },
    },
    prices: { readiness: () => ABSENT, majors: async () => fail(REFUSED), latest: () => null },
    search: absent,
    domains: { ...absent, covers: () => null },
    weather: { ...absent, names: () => ABSENT },
    rates: { ...absent, known: () => null },
    evm: {
      readiness: () => ABSENT,
      gas: async () => fail(REFUSED),
      balance: async () => fail(REFUSED),
      ensReadiness: () => ABSENT,
      ensName: () => null,
      ens: async () => fail(REFUSED),
    },
    models: { readiness: () => ABSENT, complete: async () => fail(REFUSED), picture: async () => fail(REFUSED) },
    translator: absent,
    ...parts,
  }
}
