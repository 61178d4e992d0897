import { Counter, Gauge, type Registry } from 'prom-client'
import type { StableRail } from '../../marketplace/stable/rail.ts'

/** Shows the numbers of the stablecoin rail in a registry. */
export function watchStableRail(registry: Registry, rail: StableRail): void {
  const registers = [registry]
  new Counter({
    name: 'farthing_stable_calls_total',
    help: 'Calls over the stablecoin rail by what they came to',
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
  new Gauge({
    name: 'farthing_stable_refunds_owed',
    help: 'Refunds of the stablecoin rail that are not paid',
    registers,
    collect() {
      this.set(rail.figures.refundsOwed)
    },
  })
}
