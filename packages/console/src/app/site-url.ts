/** Loaded when a site is shown: CIDs take more code than the first page has for them. */
export { siteUrl } from '@lade/core/content'
