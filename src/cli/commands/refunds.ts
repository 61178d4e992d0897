import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { ClaimsAway } from '../../../marketplace/till/claim-store.ts'
import { DOLLAR_CLAIMS, type DollarClaimStore, type DollarIn } from '../../../marketplace/till/rails/dollar/claim.ts'
import { folderPaths, isInitialised, storageFault } from '../../storage/folder.ts'
import { claimsOpener } from '../../storage/open-claims.ts'
import type { Command, CommandContext } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { usage } from '../values.ts'

type Store = DollarClaimStore & { close(): Promise<void> }

const TRANSACTION = /^0x[0-9a-fA-F]{64}$/

/** `farthing refunds`: lists stablecoin refunds that are owed, or marks one as paid. */
export const refundsCommand: Command = {
  name: 'refunds',
  usage: '[<id>]',
  wordsMax: 1,
  about: 'List stablecoin refunds that are owed, with the node stopped, or mark one as paid',
  example: 'refunds',
  flags: { paid: 'Transaction on the EVM network that paid the refund of <id> back' },
  run: async (context) => {
    const opened = await openStore(context)
    if (!opened.ok) return opened.fault
    try {
      return await run(context, opened.value)
    } finally {
      await opened.value.close()
    }
  },
}

async function run({ words, flags, print }: CommandContext, store: Store): Promise<number | Fault> {
  const [id] = words
  const { paid } = flags
  if ((id === undefined) !== (paid === undefined))
    return usage('usage: farthing refunds, or farthing refunds <id> --paid <transaction>').fault
  if (id !== undefined && paid !== undefined) return markPaid(store, { id, paid, print })
  const owed = (await store.open()).filter((claim): claim is DollarIn<'owed'> => claim.state === 'owed')
  for (const { id: each, payer, amount, asset, refund } of owed)
    print(`${each}  ${refund.status}  ${amount} units of ${asset} to ${payer}`)
  if (owed.length === 0) print('No refund is owed.')
  return EXIT.ok
}

async function markPaid(
  store: Store,
  { id, paid, print }: { readonly id: string; readonly paid: string } & Pick<CommandContext, 'print'>,
): Promise<number | Fault> {
  if (!TRANSACTION.test(paid)) return usage('--paid is a transaction: 0x and 64 hex digits').fault
  const claim = await store.get(id)
  if (claim?.state !== 'owed' || claim.refund.status === 'paid') return fault('rpc/request-not-found', { txId: id })
  // A refund that the node sent may have succeeded. Paying it by hand could pay twice.
  if (claim.refund.status === 'sent')
    return usage(`the node has sent the refund ${id}, and checks by itself whether it arrived`).fault
  const refund = { ...claim.refund, status: 'paid', transaction: paid.toLowerCase() } as const
  if (!(await store.advance('owed', { ...claim, refund }))) return fault('rpc/request-not-found', { txId: id })
  print(`${id} is paid`)
  return EXIT.ok
}

async function openStore({ config, params }: CommandContext): Promise<Result<Store>> {
  if (!(await isInitialised(config.dataDir)))
    return fail(fault('storage/not-initialised', { folder: config.dataDir, flags: '' }))
  try {
    return ok(await claimsOpener(config, params.name).openClaims(folderPaths(config.dataDir).stable, DOLLAR_CLAIMS))
  } catch (error) {
    return fail(error instanceof ClaimsAway ? error.fault : storageFault(config.dataDir, error))
  }
}
