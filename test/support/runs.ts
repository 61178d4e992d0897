/** How often a property runs: `base` times the environment variable FARTHING_RUNS. */
export function runs(base: number): number {
  return Math.ceil(base * Number(process.env.FARTHING_RUNS ?? 1))
}
