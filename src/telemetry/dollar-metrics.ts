import { Counter, Gauge, type Registry } from 'prom-client'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { ChannelDesk, ChannelFigures } from '../../rpc/node/channel-desk.ts'

/** Adds the figures of the stablecoin rail to a registry. */
export function watchDollarRail(registry: Registry, rail: DollarRail): void {
  const registers = [registry]
  new Counter({
    name: 'farthing_stable_calls_total',
    help: 'Calls over the stablecoin rail, by outcome',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of rail.figures.outcomes) this.inc({ outcome }, count)
    },
  })
  new Gauge({
    name: 'farthing_stable_facilitator_healthy',
    help: '1 for each facilitator that can be asked now',
    labelNames: ['url'],
    registers,
    collect() {
      for (const { url, healthy } of rail.facilitators) this.set({ url }, healthy ? 1 : 0)
    },
  })
  new Gauge({
    name: 'farthing_stable_unknown_settlements',
    help: 'Settlements whose outcome is not known yet',
    registers,
    collect() {
      this.set(rail.figures.unknown)
    },
  })
  if (rail.figures.arrivals !== null) watchArrivals(registry, rail)
  new Gauge({
    name: 'farthing_stable_refunds_owed',
    help: 'Refunds of the stablecoin rail that are not paid',
    registers,
    collect() {
      this.set(rail.figures.refundsOwed)
    },
  })
}

function watchArrivals(registry: Registry, rail: DollarRail): void {
  new Counter({
    name: 'farthing_stable_payments_checked_total',
    help: "Payments that a facilitator reported, by what the token's chain says of them: seen, missing, unknown",
    labelNames: ['verdict'],
    registers: [registry],
    collect() {
      this.reset()
      const { seen = 0, missing = 0, unknown = 0 } = rail.figures.arrivals ?? {}
      for (const [verdict, count] of Object.entries({ seen, missing, unknown })) this.inc({ verdict }, count)
    },
  })
}

/** Adds the figures of dollar channels to a registry. */
export function watchChannels(registry: Registry, desk: Pick<ChannelDesk, 'figures' | 'terms'>): void {
  const registers = [registry]
  new Counter({
    name: 'farthing_channel_transactions_total',
    help: 'Transactions of channels, by kind (deposit, claim, payout, refund) and end (done, undone, unknown)',
    labelNames: ['kind', 'end'],
    registers,
    collect() {
      this.reset()
      for (const { kind, end, count } of desk.figures.transactions) this.inc({ kind, end }, count)
    },
  })
  const gauge = (name: string, help: string, read: (figures: ChannelFigures) => number): void => {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read(desk.figures))
      },
    })
  }
  const dollars = (units: bigint): number => dollarsOf(desk.terms.asset, units)
  gauge('farthing_channels_unclaimed', 'Channels with charges that are not claimed', ({ channels }) => channels)
  gauge('farthing_channels_unclaimed_dollars', 'What is charged on channels and not claimed', ({ unclaimed }) =>
    dollars(unclaimed),
  )
  gauge('farthing_channels_locked_dollars', 'What channels with unclaimed charges hold beyond claims', ({ locked }) =>
    dollars(locked),
  )
}
