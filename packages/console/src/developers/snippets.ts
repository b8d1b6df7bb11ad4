/** A way to use the service from elsewhere. */
export interface Snippet {
  readonly id: 'curl' | 'cli' | 'sdk' | 'page'
  readonly name: string
  readonly code: string
}

/** Programs that work as they are, for this service. @param url - its address. @param hasToken - true for somebody who may make one. */
export function snippetsFor(url: string, hasToken: boolean): readonly Snippet[] {
  const header = hasToken ? ' \\\n  -H "Authorization: Bearer $LADE_TOKEN"' : ''
  return [
    {
      id: 'curl',
      name: 'curl',
      code: `cid=$(sha256sum photo.jpg | cut -d' ' -f1)
curl --data-binary @photo.jpg -H 'Content-Type: image/jpeg'${header} \\
  "${url}/api/upload?cid=$cid"`,
    },
    {
      id: 'cli',
      name: 'lade',
      code: `export LADE_URL=${url}
${hasToken ? 'export LADE_TOKEN=pk_live_…\n' : ''}lade put photo.jpg${hasToken ? '\nlade ls' : ''}`,
    },
    {
      id: 'sdk',
      name: 'TypeScript',
      code: `import { createLadeClient } from '@lade/client'

const client = createLadeClient({
  url: '${url}',${hasToken ? '\n  token: process.env.LADE_TOKEN,' : ''}
})
const { cid, retrievalUrl } = await client.put('photo.jpg')
console.log(cid, retrievalUrl)`,
    },
    {
      id: 'page',
      name: 'HTML',
      code: `<input type="file" id="file">
<script type="module">
  import { createLadeClient } from './lade-client.js'

  const client = createLadeClient({ url: '${url}' })
  document.getElementById('file').onchange = async ({ target }) => {
    const { retrievalUrl } = await client.put(target.files[0])
    console.log(retrievalUrl)
  }
</script>`,
    },
  ]
}
