import { afterEach, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { Models } from '../../../marketplace/ports/models.ts'
import { imageGen } from '../../../marketplace/services/providers/image-gen.ts'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { closeRails, PRICE, paymentOf, TestRail } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'
import { serviceNamed } from '../../support/service-results.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** How many of a payer's calls may fail in ten minutes at services that use a model. */
const BORNE = 10
const READY = { available: true, engine: 'house' } as const

/** Models whose every request costs money, and that return nothing. */
class SilentModels implements Models {
  asked = 0
  readonly readiness = () => READY
  readonly complete: Models['complete'] = async () => this.nothing()
  readonly picture: Models['picture'] = async () => this.nothing()

  nothing() {
    this.asked += 1
    return fail(fault('model/answer', { backend: 'house', reason: 'it is empty (stop)' }))
  }
}

const TEXT =
  'Wovon man nicht sprechen kann, darüber muss man schweigen. Das ist ein Satz. Noch ein Satz, der hier steht. '
const SERVICES: readonly (readonly [ServiceDefinition, string])[] = [
  [serviceNamed('node-llm-chat'), 'Say nothing'],
  [imageGen, 'Paint nothing'],
  [serviceNamed('node-translate'), 'de|Nothing'],
  [serviceNamed('node-summarize'), TEXT],
  [serviceNamed('node-sentiment'), TEXT],
  [serviceNamed('node-keywords'), TEXT],
]

it.each(SERVICES)('failing work of $serviceId is not free for ever', async (definition, request) => {
  const models = new SilentModels()
  const translator = { readiness: () => READY, ask: async () => models.nothing() }
  const services = [{ ...definition, priceUsdMicros: PRICE }]
  const rail = await TestRail.open({ services, outside: { models, translator } })
  const payer = rail.payer()
  const codes: string[] = []
  for (let i = 0; i < BORNE + 2; i++)
    codes.push(await rail.codeOf(rail.order(request, { serviceId: definition.serviceId, payment: paymentOf(payer) })))
  expect(codes).toEqual([...new Array(BORNE).fill('service/failed'), 'stable/failing', 'stable/failing'])
  expect([models.asked >= BORNE, rail.income]).toEqual([true, 0n])
})
