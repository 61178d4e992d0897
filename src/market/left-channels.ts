import { ok } from '../../consensus/primitives/result.ts'
import { unlessAway } from '../../marketplace/till/claim-store.ts'
import { dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import { isTab, type TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { DaemonOptions, OpenedTabs } from '../daemon/open-core.ts'
import { assetOf } from './dollar-terms.ts'

/** Says at the start what is lost with a rail that is off. A store that is away is looked into by replicas that claim. */
export async function warnOfChannels({ config, logger }: DaemonOptions, { store }: OpenedTabs): Promise<void> {
  const owed = await unlessAway(async () => ok(await owedOnChannels(store)))
  if (!owed.ok || owed.value.units === 0n) return
  const { units, channels } = owed.value
  const asset = assetOf(config.stable)
  const sum = asset.ok ? `${dollarsOf(asset.value, units)} ${asset.value.symbol}` : `${units} units of the token`
  const text = `${sum} are charged on ${channels} channels and not known to be claimed, and the stablecoin rail is off: turn stable.enabled on until they are, or payers can take them back`
  logger.warn({ area: 'channels', channels, units: String(units) }, text)
}

/** What is charged on channels beyond what is known to be claimed for good. */
async function owedOnChannels(store: TabStore): Promise<{ readonly units: bigint; readonly channels: number }> {
  const rows = (await store.unclaimed()).filter((row) => !isTab(row))
  let [units, channels] = [0n, 0]
  for (const { tabId, charged, finalReceipts } of rows) {
    const [first] = await store.receiptsFrom(tabId, finalReceipts + 1, 1)
    const before = first === undefined ? charged : first.receipt.cumulative - first.receipt.charged
    if (charged > before) channels += 1
    units += charged - before
  }
  return { units, channels }
}

/** Whether a channel is to be claimed, or a call of one to be ended. Of replicas, only the one that claims knows. */
export async function isLeft(store: TabStore): Promise<boolean> {
  if (store.shared !== undefined) return true
  return [...(await store.unclaimed()), ...(await store.open())].some((row) => !isTab(row))
}
