import { expect, it } from 'vitest'
import { nativeSupply } from '../../../../consensus/ledger/supply.ts'
import { blockAt } from '../../../../marketplace/queries/blocks.ts'
import { burnedIn } from '../../../../marketplace/queries/burns.ts'
import { serviceChain } from '../../../support/service-chain.ts'

it('what the blocks of a chain burned is what its books say, fees, launches and deliveries together', async () => {
  const { chain } = (await serviceChain()).test
  const height = chain.head.header.height
  const parts = Array.from(
    { length: height },
    (_, i) => blockAt(chain, i + 1) as NonNullable<ReturnType<typeof blockAt>>,
  )
  const sum = parts.reduce((total, block) => total + (burnedIn(chain, block) as bigint), 0n)
  expect(sum).toBe(nativeSupply(chain.database).burned)
  // Beside base fees, the sum includes the cost of new tokens and the burned share of deliveries.
  const fees = parts.reduce((total, { close }) => total + (close?.burned ?? 0n), 0n)
  expect(sum - fees).toBeGreaterThan(10n * 100_000_000n)
})
