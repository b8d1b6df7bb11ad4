import type { SampledVariant, Variant } from './sample.ts'

/**
 * Takes `rounds` samples of every variant, interleaved: one of each, then one of each again. A slow minute of the
 * machine then falls on all variants alike. Each round begins with another variant, since a sample feels what the one
 * before it left behind.
 *
 * @param report - called with one line per sample, for progress.
 * @returns the samples by variant, in the order of `variants`.
 */
export async function takeRounds(
  variants: readonly Variant[],
  rounds: number,
  report: (line: string) => void,
): Promise<SampledVariant[]> {
  const sampled = variants.map((variant) => ({ variant, name: variant.name, samples: [] as SampledVariant['samples'] }))
  for (let round = 0; round < rounds; round++) {
    const first = round % sampled.length
    for (const { variant, name, samples } of [...sampled.slice(first), ...sampled.slice(0, first)]) {
      const sample = await variant.takeSample(round)
      samples.push(sample)
      report(`round ${round + 1}/${rounds}  ${name}: ${Math.round(sample.value).toLocaleString('en')}`)
    }
  }
  return sampled.map(({ name, samples }) => ({ name, samples }))
}
