import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { SERVICE_CASES } from '../../../support/service-cases.ts'
import type { ServiceChain } from '../../../support/service-chain.ts'
import { caseChains, type ServiceResults, serviceResults } from '../../../support/service-results.ts'

const kept = (id: string): ServiceResults =>
  JSON.parse(readFileSync(new URL(`../../../vectors/services/${id}.json`, import.meta.url), 'utf8'))

describe('a chain with something of everything, and an empty one', () => {
  let chains: readonly [ServiceChain, ServiceChain]
  beforeAll(async () => {
    chains = await caseChains()
  })

  for (const id of Object.keys(SERVICE_CASES)) {
    it(`are what ${id} says of them`, async () => {
      expect(await serviceResults(id, ...chains)).toEqual(kept(id))
    })
  }
})
