-- A record of another layout is left alone.
local layout = redis.call('HGET', KEYS[1], 'v')
if layout and layout ~= LAYOUT then return redis.error_reply('LAYOUT unknown') end
