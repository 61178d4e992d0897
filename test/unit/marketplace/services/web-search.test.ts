import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { readRequest } from '../../../../marketplace/services/service.ts'
import { webSearch as service } from '../../../../marketplace/services/web/web-search.ts'
import { ProviderKeys } from '../../../../src/adapters/provider-keys.ts'
import { webSearch } from '../../../../src/adapters/providers/web-search.ts'
import { systemClock, systemTimers } from '../../../../src/daemon/runtime.ts'
import { outsideOf } from '../../../support/outside.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { describeService } from '../../../support/upstreams/provider-suite.ts'
import { searxngUpstream } from '../../../support/upstreams/searxng.ts'

let context: ServiceContext
beforeAll(async () => {
  context = (await emptyServiceChain(2)).context
})

describeService({
  service,
  request: '  post-quantum\n signatures ',
  handler: searxngUpstream(),
  open: async (url) => {
    const choices = [{ name: 'searxng', url }]
    const search = webSearch({ choices, keys: new ProviderKeys(), clock: systemClock, timers: systemTimers })
    await search.start()
    return { context: { ...context, outside: outsideOf({ search }) }, stop: () => search.stop() }
  },
  verify: (result) => {
    expect(result).toMatchObject({
      service: 'node-web-search',
      source: { name: 'searxng', stale: false },
      query: 'post-quantum signatures',
      provider: 'searxng',
      tookMs: expect.any(Number),
      results: [
        { rank: 1, host: 'csrc.nist.gov', title: 'FIPS 204, ML-DSA', date: '2024-08-13' },
        { rank: 2, host: 'example.org', date: null },
      ],
      unknown: ['results.date'],
    })
  },
})

describe('a query', () => {
  it.each(['', ' \n\t', 'x'.repeat(401), 'word '.repeat(51), 'x'.repeat(900)])('of %j is refused', (request) => {
    expect(readRequest(service, request)).toMatchObject({ ok: false, fault: { code: 'service/invalid-request' } })
  })

  it.each(['x', 'x'.repeat(400), 'word '.repeat(50), 'was ist "Zeit"?'])('of %j is taken', (request) => {
    expect(readRequest(service, request)).toMatchObject({ ok: true, value: request.trim() })
  })
})
