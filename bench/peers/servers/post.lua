-- Makes wrk send one body again and again: wrk -s post.lua URL -- BODY
function init(args)
  wrk.method = 'POST'
  wrk.body = args[1]
  wrk.headers['Content-Type'] = 'application/json'
  whole = wrk.format()
end

function request()
  return whole
end
