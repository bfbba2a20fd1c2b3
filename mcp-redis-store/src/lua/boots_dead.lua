-- The processes that do not live. KEYS: boots.
local all, dead = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  local _, over = parts(all[i + 1])
  if over <= now then dead[#dead + 1] = all[i] end
end
return dead
