import { expect, it } from 'vitest'
import { signTransaction } from '../../../../consensus/external/evm-transaction.ts'

const KEY = new Uint8Array(32).fill(7)
const CALL = {
  chainId: 84_532,
  nonce: 0n,
  priorityFee: 1n,
  maxFee: 33n,
  gas: 26_250n,
  to: `0x${'1'.repeat(40)}`,
  data: new Uint8Array(70).fill(0xab),
}

it('is signed as viem 2.57.1 signs it', () => {
  expect(signTransaction(KEY, CALL)).toEqual({
    raw: '0x02f8ac83014a3480012182668a94111111111111111111111111111111111111111180b846ababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababc080a0a5f4e316a2848ab209bf90ebe7fa2620b52c7fb9fc19e6b64aeff4f18b0041ffa015f62c1d69944c025a217244778b9164fe11bb079f08339cec45157ffff270e7',
    hash: '0x6bd06ae8a78242d34ab2af96734f78631ec8ecdc0c177960942afb514b985141',
  })
})

it('differs by every part', () => {
  const changes = [
    { chainId: 1 },
    { nonce: 1n },
    { priorityFee: 2n },
    { maxFee: 34n },
    { gas: 1n },
    { data: new Uint8Array(0) },
  ]
  const hashes = [{}, ...changes].map((change) => signTransaction(KEY, { ...CALL, ...change }).hash)
  expect(new Set(hashes).size).toBe(7)
})
