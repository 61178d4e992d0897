import { beforeAll, describe, expect, it } from 'vitest'
import { readOutside } from '../../../../config/outside-settings.ts'
import { checkRequest, type ServiceDefinition } from '../../../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../../../marketplace/services/table.ts'
import { offeredServices } from '../../../../src/market/services-on-offer.ts'
import { CHAIN_SERVICES } from '../../../support/listed-services.ts'
import { emptyServiceChain, type ServiceChain, serviceChain } from '../../../support/service-chain.ts'

const CONFIG = { outside: readOutside(() => null) }
/** A service whose requests have keys and a signature of ten thousand digits. So its example shows only the form. */
const SHAPE_ALONE = 'node-signature-verify'

let devnet: ServiceChain
let mainnet: ServiceChain

beforeAll(async () => {
  devnet = await serviceChain()
  mainnet = await emptyServiceChain()
})

function servicesOn({ context }: ServiceChain): readonly ServiceDefinition[] {
  return offeredServices(CONFIG, context.chain.ruleBook.params)
}

function serviceOn(chain: ServiceChain, serviceId: string): ServiceDefinition {
  return servicesOn(chain).find((one) => one.serviceId === serviceId) as ServiceDefinition
}

describe('an example of a service', () => {
  it('works where there is something of everything', () => {
    const ids = new Set(CHAIN_SERVICES.map(({ serviceId }) => serviceId))
    const refused = servicesOn(devnet)
      .filter(({ serviceId }) => ids.has(serviceId) && serviceId !== SHAPE_ALONE)
      .flatMap((definition) => {
        const checked = checkRequest(definition, definition.example, devnet.context)
        return checked.ok ? [] : [`${definition.serviceId}: ${checked.fault.detail.reason}`]
      })
    expect(refused).toEqual([])
  })

  it('names an address of the network that it is sold on', () => {
    for (const chain of [devnet, mainnet]) {
      const portfolio = serviceOn(chain, 'node-wallet-portfolio')
      expect(checkRequest(portfolio, portfolio.example, chain.context).ok).toBe(true)
      const refused = checkRequest(portfolio, 'nobody', chain.context)
      expect(refused).toMatchObject({ ok: false, fault: { detail: { example: portfolio.example } } })
    }
    expect(serviceOn(mainnet, 'node-wallet-portfolio').example).toMatch(/^far1/)
    const foreign = servicesOn(mainnet).filter((one) => /dfar1/.test(`${one.example} ${JSON.stringify(one.sample)}`))
    expect(foreign).toEqual([])
  })
})

describe('what is sold', () => {
  it('is the table, with artwork in place of pictures where the operator chose that', () => {
    const ids = (services: readonly ServiceDefinition[]) => services.map(({ serviceId }) => serviceId)
    expect(ids(servicesOn(devnet))).toEqual(ids(SERVICE_TABLE))
    const { outside } = CONFIG
    const artistic = { outside: { ...outside, models: { ...outside.models, proceduralImages: true } } }
    const name = (config: typeof CONFIG) =>
      offeredServices(config, { addressPrefix: 'dfar' }).find((one) => one.serviceId === 'node-image-gen')?.name
    expect([name(CONFIG), name(artistic)]).toEqual(['Image generation', 'Abstract artwork'])
  })
})
