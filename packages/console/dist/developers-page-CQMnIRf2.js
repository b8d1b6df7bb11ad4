import{c as e,n as t}from"./route-Z5vGgj54.js";import{o as n}from"./index-YCUrzn7s.js";import{S as r,i,r as a,t as o}from"./icon-Cb2UyQSp.js";function s(e,t){return[{id:`curl`,name:`curl`,code:`cid=$(sha256sum photo.jpg | cut -d' ' -f1)
curl --data-binary @photo.jpg -H 'Content-Type: image/jpeg'${t?` \\
  -H "Authorization: Bearer $LADE_TOKEN"`:``} \\
  "${e}/api/upload?cid=$cid"`},{id:`cli`,name:`lade`,code:`export LADE_URL=${e}
${t?`export LADE_TOKEN=pk_live_…
`:``}lade put photo.jpg${t?`
lade ls`:``}`},{id:`sdk`,name:`TypeScript`,code:`import { createLadeClient } from '@lade/client'

const client = createLadeClient({
  url: '${e}',${t?`
  token: process.env.LADE_TOKEN,`:``}
})
const { cid, retrievalUrl } = await client.put('photo.jpg')
console.log(cid, retrievalUrl)`},{id:`page`,name:`HTML`,code:`<input type="file" id="file">
<script type="module">
  import { createLadeClient } from './lade-client.js'

  const client = createLadeClient({ url: '${e}' })
  document.getElementById('file').onchange = async ({ target }) => {
    const { retrievalUrl } = await client.put(target.files[0])
    console.log(retrievalUrl)
  }
<\/script>`}]}var c=[[`/docs`,`reference`],[`/docs/guides`,`guides`],[`/openapi.json`,`openapi`],[`/docs/errors`,`errors`]];function l(){let{developers:l,tokens:u}=i.value,d=e.value!=null;return a(r,{children:[a(`header`,{class:`page-head`,children:[a(`h1`,{children:l.title}),a(`p`,{class:`lead`,children:l.lead})]}),d&&a(`p`,{children:[l.tokenHint,` `,a(`a`,{href:t(`tokens`),children:u.make})]}),a(`div`,{class:`snippets`,children:s(location.origin,d).map(({id:e,name:t,code:r})=>a(`section`,{class:`panel snippet`,"aria-labelledby":`snippet-${e}`,children:[a(`div`,{class:`panel-head`,children:[a(`h2`,{id:`snippet-${e}`,children:t}),a(n,{text:r,what:t,label:i.value.app.copy})]}),a(`p`,{class:`panel-hint`,children:l.hints[e]}),a(`pre`,{tabIndex:0,children:a(`code`,{children:r})})]},e))}),a(`ul`,{class:`doc-links`,children:c.map(([e,t])=>a(`li`,{children:a(`a`,{class:`panel doc-link`,href:e,target:`_blank`,rel:`noopener`,children:[a(`span`,{children:[a(`strong`,{children:l.links[t]}),a(`small`,{children:l.linkHints[t]})]}),a(o,{name:`open`})]})},e))})]})}export{l as DevelopersPage};