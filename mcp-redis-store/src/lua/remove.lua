-- Forgets a session and its events, also in a store that is full. KEYS: session. ARGV: epoch.
local epoch = redis.call('HGET', KEYS[1], 'e')
if epoch and epoch ~= ARGV[1] then return 'conflict' end
redis.call('DEL', KEYS[1])
return 'ok'
