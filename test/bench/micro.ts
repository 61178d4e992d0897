import { bench, do_not_optimize, run } from 'mitata'
import { decodeBlock, encodeBlock } from '../../consensus/block/block.ts'
import { taggedHash } from '../../consensus/crypto/hash.ts'
import { signingContext } from '../../consensus/crypto/signing.ts'
import { verifyJob } from '../../consensus/crypto/verifier.ts'
import { signatureJob } from '../../consensus/tx/check.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { createFixture, openBenchChain, signTransfers } from './fixture.ts'

/** `node test/bench/micro.ts` prints the costs of single steps, to explain figures of `npm run bench`. It has no goals. */
const fixture = createFixture(100, 100)
const verifier = new VerifyPool(1)
const { chain, close } = await openBenchChain(fixture, verifier)
const transactions = await signTransfers(fixture, chain, 1n)
const [tx] = transactions as readonly [Transaction]
const [signer] = fixture.senders
if (signer === undefined) throw new Error('the fixture has no senders')
const job = signatureJob(tx, signer.keys, chain.network)
if (!job.ok) throw new Error(job.fault.code)
const bytes = encodeTransaction(tx)
const blockBytes = encodeBlock({ ...chain.head, transactions } as never)

bench('tagged hash of 64 bytes', () => do_not_optimize(taggedHash('textDigest', bytes.subarray(0, 64))))
bench('tagged hash of a transaction', () => do_not_optimize(taggedHash('textDigest', bytes)))
bench('decode a transaction, with its ids', () => do_not_optimize(decodeTransaction(bytes)))
bench('decode a block of 100 transactions', () => do_not_optimize(decodeBlock(blockBytes)))
bench('verify a hybrid signature', () => do_not_optimize(verifyJob(NATIVE_BACKEND, job.value)))
bench('sign a hybrid signature', async () =>
  do_not_optimize(await signer.sign(job.value.message, signingContext(job.value.domain))),
)
await run()
await close()
await verifier.close()
