/** Zero crossings of the filter on each side. With this window the stopband is about 80 dB down. */
const CROSSINGS = 16
const KAISER_BETA = 8
/** Share of the band that passes. The filter falls off in the rest. */
const BAND = 0.94
/** Samples between two yields. */
const SLICE = 4_096

/** For one ratio of rates: the weights of the neighbouring samples, for each fractional position. */
interface Filter {
  /** Reduced ratio: of `up` positions per sample, every `down`-th is an output. */
  readonly up: number
  readonly down: number
  /** Samples on each side. */
  readonly reach: number
  /** `up` rows of `2 * reach` weights. */
  readonly weights: Float64Array
}

/**
 * Resamples with a windowed-sinc filter (Kaiser window), which removes frequencies that the lower rate cannot hold. A
 * step makes at most SLICE samples; the first also makes the filter. The result has the input's length times the ratio,
 * rounded.
 */
export function* resampled(samples: Int16Array, fromRate: number, toRate: number): Generator<void, Int16Array> {
  if (fromRate === toRate) return samples
  const filter = filterFor(fromRate, toRate)
  const { up, down } = filter
  const out = new Int16Array(Math.round((samples.length * up) / down))
  for (let from = 0; from < out.length; from += SLICE) {
    fill(out, from, Math.min(out.length, from + SLICE), { samples, filter })
    yield
  }
  return out
}

function fill(
  out: Int16Array,
  from: number,
  to: number,
  { samples, filter: { up, down, reach, weights } }: { readonly samples: Int16Array; readonly filter: Filter },
): void {
  for (let n = from; n < to; n++) {
    const place = n * down
    const first = Math.floor(place / up) - reach + 1
    const row = (place % up) * 2 * reach
    // Silence beyond the ends.
    const begin = Math.max(0, -first)
    const end = Math.min(2 * reach, samples.length - first)
    let sum = 0
    for (let k = begin; k < end; k++) sum += (samples[first + k] as number) * (weights[row + k] as number)
    out[n] = Math.max(-32_768, Math.min(32_767, Math.round(sum)))
  }
}

function filterFor(fromRate: number, toRate: number): Filter {
  const common = greatestCommonDivisor(fromRate, toRate)
  const [up, down] = [toRate / common, fromRate / common]
  const cutoff = BAND * Math.min(1, toRate / fromRate)
  const reach = Math.ceil(CROSSINGS / cutoff)
  const weights = new Float64Array(up * 2 * reach)
  for (let phase = 0; phase < up; phase++) {
    const row = weights.subarray(phase * 2 * reach, (phase + 1) * 2 * reach)
    for (let k = 0; k < row.length; k++) row[k] = weightAt(k - reach + 1 - phase / up, cutoff, reach)
    // Normalised, so that a constant signal stays constant at every position.
    const sum = row.reduce((total, weight) => total + weight, 0)
    for (let k = 0; k < row.length; k++) row[k] = (row[k] as number) / sum
  }
  return { up, down, reach, weights }
}

function weightAt(distance: number, cutoff: number, reach: number): number {
  const share = distance / reach
  if (Math.abs(share) >= 1) return 0
  const angle = Math.PI * distance * cutoff
  const sinc = angle === 0 ? 1 : Math.sin(angle) / angle
  return sinc * bessel(KAISER_BETA * Math.sqrt(1 - share * share))
}

/** Modified Bessel function of the first kind, order 0, by its series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1]
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other)
}
